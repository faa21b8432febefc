/** What a text will cost before it is sent: as it stands, and with the language table and the transliteration that the client asks about. */
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

/** The plain text first; then, if any are given, with the options. */
export function preview(text: string, options: PreviewOptions): Preview {
  const previews = [previewWith(text, {})];
  if (options.languageCode !== undefined || options.transliteration !== undefined)
    previews.push(previewWith(text, options));
  return { originalText: text, previews };
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
