/** What a node does: takes requests, talks to carriers, pushes reports. One does it all, or several share the work. */
export const ROLES = ["api", "dispatch", "reports"] as const;
export type Role = (typeof ROLES)[number];

/** "api,dispatch" → the roles that it names, or null where one of them is none, or there are none. */
export function parseRoles(text: string): Role[] | null {
  const words = text.split(",").map((word) => word.trim());
  const roles = ROLES.filter((role) => words.includes(role));
  return words.every((word) => (ROLES as readonly string[]).includes(word)) ? roles : null;
}
