/** A report's body in XML: the names of the JSON body, inside `reportResponse`. What is null in JSON is an empty element here. */
import { XMLBuilder } from "fast-xml-parser";

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** XML 1.0 §2.2: all but these can be in a document, and these not even as a character reference. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const builder = new XMLBuilder({ processEntities: true });

export function xmlBody(results: readonly object[], counts: object = {}): string {
  const document: string = builder.build({ reportResponse: { results: { result: results }, ...counts } });
  // §2.11: a reader takes a bare carriage return for a line feed.
  return DECLARATION + document.replace(NOT_XML, "\uFFFD").replaceAll("\r", "&#13;");
}
