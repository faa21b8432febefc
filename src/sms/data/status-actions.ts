/** What a client can do about a rejection, by the status's id: the public table of the API family, told by version 3. */
export const STATUS_ACTIONS: Readonly<Record<number, string>> = {
  6: "Contact account manager",
  13: "Remove sender from blacklist",
  14: "Remove destination from blacklist",
  17: "Top-Up your account to extend the validity period",
  19: "Contact account manager",
  52: "Check to parameter.",
};
