/** The transliterations that a client may ask for. They stand apart from their tables, for whoever only names them. */
export const TRANSLITERATIONS = [
  "TURKISH",
  "GREEK",
  "CYRILLIC",
  "SERBIAN_CYRILLIC",
  "BULGARIAN_CYRILLIC",
  "CENTRAL_EUROPEAN",
  "BALTIC",
  "PORTUGUESE",
  "COLOMBIAN",
  "NON_UNICODE",
  /** Those of every script and language, and nothing else. */
  "ALL",
  "NONE",
] as const;
export type Transliteration = (typeof TRANSLITERATIONS)[number];
