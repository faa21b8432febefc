/** What an account can say of the people behind it, in the words of the OneAPI. All of it is theirs: the service itself has no use for any. */
export const PROFILE_TEXTS = [
  "forename",
  "surname",
  "street",
  "city",
  "zipCode",
  "telephone",
  "gsm",
  "fax",
  "email",
  "msn",
  "skype",
] as const;
export const PROFILE_NUMBERS = ["countryId", "timezoneId", "primaryLanguageId", "secondaryLanguageId"] as const;

export type Profile = { readonly [Name in (typeof PROFILE_TEXTS)[number]]?: string } & {
  readonly [Name in (typeof PROFILE_NUMBERS)[number]]?: number;
};
