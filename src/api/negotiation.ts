/** JSON only, in both directions and as lenient as real clients need; but for what is asked for as CSV. */
import { ApiError } from "./errors.ts";

/** Whether the query says format=csv. */
export function isCsvWanted(query: unknown): boolean {
  return (query as { format?: unknown }).format === "csv";
}

/** No Accept header at all is fine. */
export function checkAccept(header: string | undefined, answer: "application/json" | "text/csv"): void {
  // What nearly all programs send, before the long way.
  if (header === undefined || header === answer || header === "*/*" || header.trim() === "") return;
  const ranges = ["*/*", `${answer.split("/")[0]}/*`, answer];
  const fine = header.split(",").some((range) => {
    const [type = "", ...params] = range.split(";").map((piece) => piece.trim().toLowerCase());
    return ranges.includes(type) && !params.some((param) => /^q=0(\.0{0,3})?$/.test(param));
  });
  if (!fine) throw new ApiError("notAcceptable", `The answer is ${answer}, and Accept does not allow it.`);
}

/** A body is taken as it is: what is compressed would have to be bounded twice. */
export function checkContentEncoding(header: string | undefined): void {
  if (header === undefined || ["", "identity"].includes(header.trim().toLowerCase())) return;
  throw new ApiError("unsupportedMediaType", "The body must not be compressed: Content-Encoding is not taken.");
}

/** No Content-Type is taken as JSON: what is in the body decides. */
export function checkContentType(header: string | undefined, form: boolean): void {
  if (header === undefined || header === "application/json") return;
  const type = header.split(";")[0]!.trim().toLowerCase();
  if (type === "application/json" || (form && type === "application/x-www-form-urlencoded")) return;
  const allowed = form ? "application/json or application/x-www-form-urlencoded" : "application/json";
  throw new ApiError("unsupportedMediaType", `Content-Type must be ${allowed}.`);
}
