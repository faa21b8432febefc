/**
 * What a text will cost before it is sent: as it stands, and with the language table and the transliteration that the
 * client asks about.
 */
import { type LanguageCode, prepareText, type Transliteration } from "./text.ts";

export interface PreviewOptions {
  languageCode?: LanguageCode;
  transliteration?: Transliteration;
}

export interface PreviewItem {
  textPreview: string;
  messageCount: number;
  charactersRemaining: number;
  configuration: { language?: { languageCode: LanguageCode }; transliteration?: Transliteration };
}

export interface Preview {
  originalText: string;
  previews: PreviewItem[];
}

/** The plain text first; then each option alone; last, if there are two, both together. */
export function preview(text: string, { languageCode, transliteration }: PreviewOptions): Preview {
  const choices: PreviewOptions[] = [{}];
  if (languageCode !== undefined) choices.push({ languageCode });
  if (transliteration !== undefined) choices.push({ transliteration });
  if (languageCode !== undefined && transliteration !== undefined) choices.push({ languageCode, transliteration });
  return { originalText: text, previews: choices.map((options) => previewWith(text, options)) };
}

function previewWith(text: string, options: PreviewOptions): PreviewItem {
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
