/** Answers to what resellers ask about their clients together: the statement over all, rate plans, and why messages fail. */

const SUMS = {
  currency: "EUR",
  openingBalance: 100,
  charged: -0.03,
  refunded: 0.01,
  funds: 25,
  closingBalance: 124.98,
  smsCount: 3,
  postings: 4,
};
const FROM = "2026-02-01T00:00:00.000+0000";
const TO = "2026-03-01T00:00:00.000+0000";
const PLAN = { id: "standard", currency: "EUR", own: true, prices: 1, defaultPrice: 0.01 };

export const RESELLING_EXAMPLES = {
  statement: {
    from: FROM,
    to: TO,
    totals: [{ ...SUMS, accounts: 1 }],
    results: [{ account: "DEMO0001", ...SUMS }],
    next: null,
  },
  plan: PLAN,
  prices: {
    ...PLAN,
    ownCurrency: "EUR",
    results: [{ prefix: "", country: null, price: 0.01, ownPrice: 0.01 }],
    next: null,
  },
  failures: {
    account: "DEMO0001",
    from: FROM,
    to: TO,
    messages: 120,
    failed: 2,
    complete: true,
    results: [
      {
        reason: "Message not delivered: Unknown Subscriber",
        status: "UNDELIVERABLE_NOT_DELIVERED",
        error: "EC_UNKNOWN_SUBSCRIBER",
        permanent: true,
        count: 2,
        latest: [
          {
            id: "3763870000000000022",
            at: "2026-02-12T09:58:20.323+0000",
            doneAt: "2026-02-12T09:58:21.480+0000",
            country: "CH",
            to: null,
          },
        ],
      },
    ],
  },
} as const;
