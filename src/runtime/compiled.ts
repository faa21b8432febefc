/**
 * Functions made at start from a list of names, as serializers do it, for what runs many thousand times a second: a loop over names takes many times as
 * long (store/schema/table.ts has the figures). The names are those of our own declarations. Nothing that comes from outside gets in here.
 */

/** `(parameters) => expression`, in which the names of `scope` are known. */
export function compiled<Made>(
  parameters: string,
  expression: string,
  scope: Readonly<Record<string, unknown>> = {},
): Made {
  const make = new Function(...Object.keys(scope), `"use strict"; return (${parameters}) => ${expression};`);
  return make(...Object.values(scope)) as Made;
}
