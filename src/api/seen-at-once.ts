/**
 * A store whose changes this node follows before they are answered: whoever made one and goes on here finds it in force. Other nodes
 * follow with their next look.
 */
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { CommandName } from "../store/port/store.ts";

const CHANGING: readonly CommandName[] = [
  "createAccount",
  "changeAccount",
  "setPassword",
  "confirmSecondFactor",
  "removeSecondFactor",
  "endSessions",
  "createApiKey",
  "revokeApiKey",
  "changeSubscriptions",
  "putItem",
  "deleteItem",
];

export function seenAtOnce<Commands extends object>(store: Commands, catalogue: Pick<Catalogue, "look">): Commands {
  const after =
    <Input, Output>(command: (input: Input) => Promise<Output>) =>
    async (input: Input): Promise<Output> => {
      const output = await command(input);
      // The change is made, whether or not this look succeeds; the next one is on its way.
      await catalogue.look().catch(() => undefined);
      return output;
    };
  const commands = store as Record<string, (input: unknown) => Promise<unknown>>;
  const changing = CHANGING.filter((name) => name in commands).map((name) => [name, after(commands[name]!)]);
  return { ...store, ...Object.fromEntries(changing) };
}
