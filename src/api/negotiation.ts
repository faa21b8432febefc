/** JSON only, in both directions, as lenient as real clients need. */
import { ApiError } from "./errors.ts";

const JSON_RANGES = new Set(["*/*", "application/*", "application/json"]);

/** No Accept header at all is fine. */
export function checkAccept(header: string | undefined): void {
  if (header === undefined || header.trim() === "") return;
  const fine = header.split(",").some((range) => {
    const [type = "", ...params] = range.split(";").map((piece) => piece.trim().toLowerCase());
    return JSON_RANGES.has(type) && !params.some((param) => /^q=0(\.0{0,3})?$/.test(param));
  });
  if (!fine)
    throw new ApiError("notAcceptable", {
      description: "The answer is application/json, and Accept does not allow it.",
    });
}

/** No Content-Type is taken as JSON: what is in the body decides. */
export function checkContentType(header: string | undefined, form: boolean): void {
  if (header === undefined) return;
  const type = header.split(";")[0]!.trim().toLowerCase();
  if (type === "application/json" || (form && type === "application/x-www-form-urlencoded")) return;
  const allowed = form ? "application/json or application/x-www-form-urlencoded" : "application/json";
  throw new ApiError("unsupportedMediaType", { description: `Content-Type must be ${allowed}.` });
}
