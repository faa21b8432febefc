/** Accounts and money: who gives what to whom, and where each posting goes. */
import { Drawing, left, right } from "./drawing.ts";

export function money(): Drawing {
  const drawing = new Drawing("Accounts and money", 960, 440);
  drawing.words(
    [24, 58],
    "Each movement takes from one wallet and gives to another, so all wallets of a currency are zero together at any moment.",
    { look: "small" },
  );

  const operator = drawing.box(24, 86, 190, 58, "operator", ["fills up every account"], "moving");
  const reseller = drawing.box(24, 176, 190, 58, "reseller", ["fills up its clients"], "moving");
  const payments = drawing.box(24, 310, 190, 62, "payments", [
    "a wallet of the service:",
    "what was paid in, as a debt",
  ]);
  const account = drawing.box(
    386,
    196,
    190,
    76,
    "an account's wallet",
    ["balance and credit limit;", "never below the limit"],
    "done",
  );
  drawing.box(746, 196, 190, 76, "revenue", ["a wallet of the service:", "what messages have cost"]);

  drawing.arrow([right(operator), [300, 115], [300, 216], [386, 216]], {
    label: "top up, take back, correct",
    labelAt: [308, 110],
    anchor: "start",
  });
  drawing.arrow([right(reseller), [270, 205], [270, 234], left(account)], {
    label: "funds",
    labelAt: [222, 200],
    anchor: "start",
  });
  drawing.arrow([right(payments), [481, 341], [481, 272]], {
    tone: "done",
    label: "all of these take it from here",
    labelAt: [222, 334],
    anchor: "start",
  });
  drawing.arrow(
    [
      [576, 220],
      [746, 220],
    ],
    { tone: "moving", label: "charge, at acceptance", labelAt: [661, 210] },
  );
  drawing.arrow(
    [
      [746, 250],
      [576, 250],
    ],
    { tone: "retrying", label: "refund, if none took it", labelAt: [661, 268] },
  );

  drawing.words(
    [24, 404],
    "A charge is in the commit that accepts the message, and a refund in the commit that ends it. Postings are never changed or deleted;",
    { look: "small" },
  );
  drawing.words([24, 422], "`heliograph ledger verify` adds all of them up, and compares the sums with every wallet.", {
    look: "small",
  });
  return drawing;
}
