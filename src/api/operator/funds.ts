/** An operator moves the money of an account. What a reseller does with the money of its clients is in api/money.ts. */
import { MAX_REASON, moveFunds } from "../../admin/account-funds.ts";
import { microsToNumber } from "../../money/amounts.ts";
import { FUNDS_MOVES } from "../../money/postings.ts";
import { Type } from "../../runtime/type.ts";
import { bodyHash, idempotencyKey, keyReused } from "../idempotency.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { OneOf, Whole } from "../shapes.ts";
import { Decimal, managerOf, named, OPERATOR } from "./managing.ts";

const FundsRequest = Type.Object(
  {
    kind: OneOf(
      FUNDS_MOVES,
      "topUp for money that was paid, takeBack for money that is given back, correction for a mistake.",
    ),
    amount: Decimal(
      "In the account's currency, above zero. Of a correction it is what the balance changes by, and may be below.",
    ),
    reason: Type.Optional(
      Type.String({
        maxLength: MAX_REASON,
        description: `It stands in the statement and in the audit; 1 to ${MAX_REASON} characters. A correction has one.`,
      }),
    ),
  },
  { additionalProperties: false, title: "FundsMove" },
);
const FundsAnswer = Type.Object({
  account: Type.String(),
  transactionId: Whole("The number of the posting."),
  amount: Type.Number({ description: "What the balance has changed by." }),
  balance: Type.Number({ description: "After it." }),
  currency: Type.String(),
});

export function fundsOperations(api: Api, { store, clock }: ApiParts): void {
  api.post(
    "/operator/1/accounts/:key/funds",
    operation({
      ...OPERATOR,
      id: "moveFunds",
      summary: "Top up an account, take money back, or correct its balance for a reason",
      schema: { body: FundsRequest },
      answer: FundsAnswer,
    }),
    async (request) => {
      const account = named(request, "key");
      const key = idempotencyKey(request);
      // The path tells one account from another: the same body for both is two requests.
      const replay = key === null ? null : { key, bulk: false, bodyHash: bodyHash(request, ` ${account}`) };
      const moved = await moveFunds(store, managerOf(request, clock), account, request.body, replay);
      if (moved === "key reused") throw keyReused();
      const { transactionId, amountMicros, balanceMicros, currency } = moved;
      const amounts = { amount: microsToNumber(amountMicros), balance: microsToNumber(balanceMicros), currency };
      return { account, transactionId, ...amounts };
    },
  );
}
