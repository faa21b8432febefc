/**
 * Why the operator's rules refuse something, as one value. The use cases of admin/ throw it as `Refused`. The API prints it as an HTTP error
 * (api/refusals.ts), the command line as a sentence and an exit code (cli/refusals.ts).
 *
 * `says` begins in lower case and has no full stop: each printer makes its own sentence of it. A sentence never begins with somebody's name.
 */

export type Refusal =
  /** One field is wrong. `says` goes on after its name: "must be 4 to 15 digits". The value is given where it is no secret. */
  | { readonly kind: "invalid"; readonly field: string; readonly says: string; readonly value?: string }
  /** What was named is not there, or is not for the caller to see. */
  | { readonly kind: "unknown"; readonly what: "account" | "other"; readonly says: string }
  /** The caller may not do this. */
  | { readonly kind: "forbidden"; readonly field: string | null; readonly says: string }
  /** It does not go together with what is there. */
  | { readonly kind: "conflict"; readonly field: string | null; readonly says: string }
  /** Somebody has changed it since the version that the caller has seen. `name` is such as "account ACME"; null: it is gone. */
  | { readonly kind: "outdated"; readonly name: string; readonly current: unknown };

export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super("says" in refusal ? refusal.says : `${refusal.name} was changed meanwhile`);
    this.refusal = refusal;
  }
}

export function invalid(field: string, says: string, value?: string): Refused {
  return new Refused({ kind: "invalid", field, says, ...(value === undefined ? {} : { value }) });
}

export function unknown(says: string): Refused {
  return new Refused({ kind: "unknown", what: "other", says });
}

export function unknownAccount(key: string): Refused {
  return new Refused({ kind: "unknown", what: "account", says: `there is no account ${key}` });
}

export function forbidden(says: string, field: string | null = null): Refused {
  return new Refused({ kind: "forbidden", field, says });
}

export function conflict(says: string, field: string | null = null): Refused {
  return new Refused({ kind: "conflict", field, says });
}

export function outdated(name: string, current: unknown): Refused {
  return new Refused({ kind: "outdated", name, current });
}
