/** Prints what the operator's rules refuse as an error of the API. */
import type { Refusal } from "../admin/refusal.ts";
import { ApiError, badField, type ErrorDetails } from "./errors.ts";

/** "the account is closed" → "The account is closed." */
function sentence(says: string): string {
  return `${says.slice(0, 1).toUpperCase()}${says.slice(1)}.`;
}

function details({ field, says }: { readonly field: string | null; readonly says: string }): ErrorDetails {
  return { description: sentence(says), ...(field === null ? {} : { variables: [field] }) };
}

export function refusalError(refusal: Refusal): ApiError {
  switch (refusal.kind) {
    case "invalid":
      return badField(refusal.field, refusal.says);
    case "unknown":
      if (refusal.what === "account") return new ApiError("accountNotFound");
      return new ApiError("notFound", { description: sentence(refusal.says) });
    case "forbidden":
      return new ApiError("forbidden", details(refusal));
    case "conflict":
      return new ApiError("conflict", details(refusal));
    case "outdated":
      return outdatedError(refusal.current as { readonly version: number } | null);
  }
}

/** Somebody has made a change since: the caller gets to see what is there now. */
export function outdatedError(current: { readonly version: number } | null): ApiError {
  if (current === null) return new ApiError("conflict", "It is not there any more.");
  return new ApiError("conflict", {
    description: `It was changed meanwhile: its version is ${current.version} now.`,
    headers: { etag: `"${current.version}"` },
    current,
  });
}
