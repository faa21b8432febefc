/** Who is signed in to the console: what the frame around every page shows, and which pages there are. */
import { formatMicros } from "../../money/amounts.ts";
import { Type } from "../../runtime/type.ts";
import { VERSION } from "../../runtime/version.ts";
import { type Account, SCOPES } from "../../store/port/accounts.ts";
import { isFactorRequired } from "../auth.ts";
import type { ApiParts } from "../parts.ts";
import { Flag, Text, Whole } from "../shapes.ts";
import type { View } from "./view.ts";

const Me = Type.Object({
  accountKey: Type.String(),
  kind: Text("client, reseller or operator."),
  username: Type.String(),
  currency: Type.String(),
  balance: Text("A decimal."),
  creditLimit: Text("A decimal."),
  scopes: Type.Array(Type.String(), { description: "What the account may do." }),
  sandbox: Type.Boolean(),
  version: Type.String(),
  secondFactor: Type.Object({
    enabled: Type.Boolean(),
    required: Flag("Whether this installation asks for one: without it nothing else is answered."),
  }),
  passwordOfReseller: Flag("Whether the reseller knows the password: then it should be changed."),
  clockOffsetMs: Whole("By how much the sandbox's clock was moved."),
});

export function meViews(parts: ApiParts): View[] {
  const { store, sandbox } = parts;
  return [
    {
      name: "me",
      summary: "See who is signed in",
      // Also for a user who lacks the second factor that is required: the console says how to enrol one.
      auth: "user",
      scope: "balance",
      answer: Me,
      async read(caller: Account) {
        const user = caller.user!;
        const account = await store.account({ resellerId: null, key: caller.key });
        return {
          accountKey: caller.key,
          kind: caller.kind,
          username: user.username,
          currency: caller.currency,
          balance: formatMicros(account?.balanceMicros ?? 0n),
          creditLimit: formatMicros(account?.creditLimitMicros ?? 0n),
          scopes: caller.scopes ?? SCOPES,
          sandbox: sandbox !== null,
          version: VERSION,
          secondFactor: { enabled: user.secondFactor, required: isFactorRequired(parts, caller) },
          passwordOfReseller: caller.passwordOfReseller,
          clockOffsetMs: sandbox?.travel?.offsetMs ?? 0,
        };
      },
    },
  ];
}
