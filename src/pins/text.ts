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

/** What is wrong with the values for a text; null where nothing is. Values that it has no place for do no harm. */
export function valuesFault(text: string, values: Readonly<Record<string, string>>): string | null {
  if (Object.hasOwn(values, PIN)) return "must not have pin: the service makes it";
  const missing = placeholdersIn(text).find((name) => !Object.hasOwn(values, name));
  return missing === undefined ? null : `must have ${missing}, which the text of the template has`;
}

/** The names of values that a text has no place for. */
export function unusedValues(text: string, values: Readonly<Record<string, string>>): string[] {
  const wanted = placeholdersIn(text);
  return Object.keys(values).filter((name) => !wanted.includes(name));
}

/** The text with the PIN and the values in their places. What stands in a value is text, whatever it looks like. */
export function filledIn(text: string, pin: string, values: Readonly<Record<string, string>>): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => {
    if (name === PIN) return pin;
    return Object.hasOwn(values, name) ? values[name]! : whole;
  });
}
