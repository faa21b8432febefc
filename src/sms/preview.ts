/**
 * What a text will cost before it is sent: as it stands, and with the language table and the transliteration that the
 * client asks about.
 */
import { type LanguageChoice, prepareText, type TextOptions, type Transliteration } from "./text.ts";

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
export function preview(text: string, wished: TextOptions): Preview {
  const languageCode = wished.languageCode === "NONE" ? undefined : wished.languageCode;
  const transliteration = wished.transliteration === "NONE" ? undefined : wished.transliteration;
  const language = { ...wished, languageCode, transliteration: undefined };
  const choices: TextOptions[] = [{}];
  if (languageCode !== undefined) choices.push(language);
  if (transliteration !== undefined) choices.push({ transliteration });
  if (languageCode !== undefined && transliteration !== undefined) choices.push({ ...language, transliteration });
  return { originalText: text, previews: choices.map((options) => previewWith(text, options)) };
}

function previewWith(text: string, options: TextOptions): PreviewItem {
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
