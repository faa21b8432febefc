/**
 * What a text will cost before it is sent: as it stands, and with the language table and the transliteration that the
 * client asks about.
 */
import { type LanguageChoice, prepareText, type Transliteration } from "./text.ts";

export interface PreviewOptions {
  languageCode?: LanguageChoice;
  /** With which of the language's tables, where not with both. */
  singleShift?: boolean;
  lockingShift?: boolean;
  transliteration?: Transliteration;
}

export interface PreviewItem {
  textPreview: string;
  messageCount: number;
  charactersRemaining: number;
  configuration: { language?: { languageCode: LanguageChoice }; transliteration?: Transliteration };
}

export interface Preview {
  originalText: string;
  previews: PreviewItem[];
}

/** The plain text first; then each option alone; last, if there are two, both together. NONE is the plain one. */
export function preview(text: string, wished: PreviewOptions): Preview {
  const languageCode = wished.languageCode === "NONE" ? undefined : wished.languageCode;
  const transliteration = wished.transliteration === "NONE" ? undefined : wished.transliteration;
  const language = { ...wished, languageCode, transliteration: undefined };
  const choices: Chosen[] = [{}];
  if (languageCode !== undefined) choices.push(language);
  if (transliteration !== undefined) choices.push({ transliteration });
  if (languageCode !== undefined && transliteration !== undefined) choices.push({ ...language, transliteration });
  return { originalText: text, previews: choices.map((options) => previewWith(text, options)) };
}

type Chosen = { [Name in keyof PreviewOptions]: PreviewOptions[Name] | undefined };

function previewWith(text: string, options: Chosen): PreviewItem {
  const prepared = prepareText(text, options);
  const configuration: PreviewItem["configuration"] = {};
  if (options.languageCode !== undefined) configuration.language = { languageCode: options.languageCode };
  if (options.transliteration !== undefined) configuration.transliteration = options.transliteration;
  return {
    textPreview: prepared.text,
    messageCount: prepared.partCount,
    charactersRemaining: prepared.charactersRemaining,
    configuration,
  };
}
