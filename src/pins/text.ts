/** The texts of templates: "Hello {{name}}, your PIN is {{pin}}". Pure. */

export const PIN_PLACEHOLDER = "{{pin}}";
const PIN = "pin";
const PLACEHOLDER = /\{\{([A-Za-z0-9_.-]{1,50})\}\}/g;

/** The names in a text, the PIN's not among them. */
function placeholdersIn(text: string): readonly string[] {
  const names = new Set(Array.from(text.matchAll(PLACEHOLDER), ([, name]) => name!));
  names.delete(PIN);
  return [...names];
}

/** What is wrong with a template's text; null where nothing is. */
export function textFault(text: string): string | null {
  return text.includes(PIN_PLACEHOLDER) ? null : `must have ${PIN_PLACEHOLDER}, where the PIN goes`;
}

/** What is wrong with the values for a text; null where nothing is. */
export function valuesFault(text: string, values: Readonly<Record<string, string>>): string | null {
  const wanted = placeholdersIn(text);
  const given = Object.keys(values);
  if (given.includes(PIN)) return "must not have pin: the service makes it";
  const unknown = given.find((name) => !wanted.includes(name));
  if (unknown !== undefined) return `has ${unknown}, which the text of the template has not`;
  const missing = wanted.find((name) => !given.includes(name));
  return missing === undefined ? null : `must have ${missing}, which the text of the template has`;
}

/** The text with the PIN and the values in their places. What stands in a value is text, whatever it looks like. */
export function filledIn(text: string, pin: string, values: Readonly<Record<string, string>>): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => {
    if (name === PIN) return pin;
    return Object.hasOwn(values, name) ? values[name]! : whole;
  });
}
