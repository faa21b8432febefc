/** The overview: is all well? If not, what is wrong, the worst first, and the page that mends it. And how much goes through, now and in the last hours. */
import type { CarrierFacts } from "../../carriers/facts.ts";
import type { Finding } from "../../doctor/finding.ts";
import type { CheckResult } from "../../doctor/watch.ts";
import { counted } from "../../runtime/text.ts";
import { Type } from "../../runtime/type.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readWord } from "../query.ts";
import { OneOf, OptionalText, Text, Whole } from "../shapes.ts";
import { carrierFindings } from "./carrier-findings.ts";
import { KEPT_SAMPLES, MAX_COUNTED, SAMPLE_MS, SERIES } from "./health.ts";
import { reasonsOf } from "./reasons.ts";
import { isoTime, isoTimeOrNull, NumberOrNull, Reasons, StringOrNull } from "./schemas.ts";
import { OPERATING, VIEW_ROOT, type View } from "./view.ts";

const MAX_FINDINGS = 50;
const MAX_REASONS = 10;
const MAX_WORDS = 1_000;
const WEIGHT: Readonly<Record<Finding["state"], number>> = { wrong: 0, warning: 1, ok: 2 };

const FindingAnswer = Type.Object({
  state: OneOf(["wrong", "warning"]),
  area: Type.String(),
  about: Text("What was looked at."),
  says: Text("What is wrong with it."),
  mend: StringOrNull,
  page: StringOrNull,
});

/** What is told of this moment, of all that the charts have. */
const NOW = ["accepted", "submitted", "delivered", "failed", "answerMs", "receiptMs"] as const;

const OverviewAnswer = Type.Object({
  state: OneOf(
    ["well", "warning", "wrong", "looking"],
    "looking: nothing is known to be wrong, and not all has been looked at yet.",
  ),
  sentence: Type.String(),
  findings: Type.Array(FindingAnswer, { description: "The worst first." }),
  moreFindings: Whole("How many there are beyond those."),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      findings: Type.Integer(),
      at: StringOrNull,
      tookMs: NumberOrNull,
      beyond: StringOrNull,
    }),
    {
      description:
        "When each thing was last looked at, and how long that took. beyond: what is not looked at here, and who does that.",
    },
  ),
  now: Type.Object(Object.fromEntries(NOW.map((name) => [name, NumberOrNull]))),
  backlog: Type.Object({
    inMemory: Type.Integer(),
    queued: Type.Integer(),
    scheduled: Type.Integer(),
    due: Type.Integer(),
    lanes: Type.Integer(),
    overflowedLanes: Type.Integer(),
    most: Whole("What is in the store is counted up to this."),
  }),
  reports: Type.Object({
    waiting: Type.Integer(),
    inMemory: Type.Integer(),
    dead: Type.Integer(),
    failingHosts: Whole("Hosts of clients with reports that failed and are tried again."),
  }),
  carriers: Type.Object({ up: Type.Integer(), all: Type.Integer() }),
  reasons: Reasons,
});

const RANGES = { "15m": 900, "1h": 3_600, "2h": 7_200 } as const;
const POINTS = 180;

const HistoryAnswer = Type.Object({
  at: Type.Array(Type.String()),
  series: Type.Object(Object.fromEntries(SERIES.map((name) => [name, Type.Array(NumberOrNull)]))),
});

export function overviewViews({ health }: ApiParts): View[] {
  return [
    {
      name: "overview",
      summary: "See whether all is well, and what is not",
      ...OPERATING,
      answer: OverviewAnswer,
      read: async () => {
        const [facts, backlog] = await Promise.all([health.carriers(), health.backlog()]);
        const [reportsInMemory, failingHosts] = await Promise.all([health.reportsInMemory(), health.failingHosts()]);
        const results = health.checks.results();
        const found = [
          ...carrierFindings(facts),
          ...reportFindings(failingHosts),
          ...results.flatMap(({ findings }) => findings),
        ].filter(({ state }) => state !== "ok");
        const findings = found.sort((one, other) => WEIGHT[one.state] - WEIGHT[other.state]);
        const state = stateOf(findings, results);
        const last = health.samples.history(1);
        return {
          state,
          sentence: sentenceOf(state, findings, facts),
          findings: findings.slice(0, MAX_FINDINGS).map(shownFinding),
          moreFindings: Math.max(0, findings.length - MAX_FINDINGS),
          checks: results.map(({ name, findings: told, atMs, tookMs, beyond }) => ({
            name,
            findings: told.filter((one) => one.state !== "ok").length,
            at: isoTimeOrNull(atMs),
            tookMs,
            beyond,
          })),
          now: Object.fromEntries(NOW.map((name) => [name, last[name][0] ?? null])),
          backlog: {
            ...backlog,
            inMemory: sum(facts, ({ waiting, putOff }) => waiting + putOff),
            lanes: sum(facts, ({ lanes }) => lanes),
            overflowedLanes: sum(facts, ({ overflowedLanes }) => overflowedLanes),
            most: MAX_COUNTED,
          },
          reports: {
            waiting: backlog.reports,
            inMemory: reportsInMemory,
            dead: backlog.deadReports,
            failingHosts,
          },
          carriers: { up: facts.filter(({ isUp }) => isUp).length, all: facts.length },
          reasons: reasonsOf(
            facts.map(({ reasons }) => reasons),
            MAX_REASONS,
          ),
        };
      },
    },
    {
      name: "history",
      summary: "See how much went through in the last minutes or hours",
      ...OPERATING,
      query: Type.Object({
        range: OptionalText(`One of ${Object.keys(RANGES).join(", ")}; 15m unless given.`),
      }),
      answer: HistoryAnswer,
      read: async (_, query) => {
        const range = readWord(fieldsOf(query), "range", Object.keys(RANGES) as (keyof typeof RANGES)[]) ?? "15m";
        const count = Math.min(KEPT_SAMPLES, (RANGES[range] * 1_000) / SAMPLE_MS);
        const { atMs, ...series } = health.samples.history(count, Math.ceil(count / POINTS));
        return { at: atMs.map(isoTime), series };
      },
    },
  ];
}

export function overviewOperations(api: Api, { health }: ApiParts): void {
  api.post(
    `${VIEW_ROOT}overview/check`,
    operation({
      ...OPERATING,
      id: "consoleCheckNow",
      summary: "Look at everything now, but for what was looked at a moment ago",
      answer: Type.Object({ checkedAt: StringOrNull }),
    }),
    async () => {
      await health.checks.again();
      const times = health.checks.results().flatMap(({ atMs }) => (atMs === null ? [] : [atMs]));
      return { checkedAt: times.length === 0 ? null : isoTime(Math.max(...times)) };
    },
  );
}

function sum(facts: readonly CarrierFacts[], of: (carrier: CarrierFacts) => number): number {
  return facts.reduce((all, carrier) => all + of(carrier), 0);
}

function reportFindings(failingHosts: number): Finding[] {
  if (failingHosts === 0) return [];
  const says = `${counted(failingHosts, "host")} of clients ${failingHosts === 1 ? "does" : "do"} not take reports; they are tried again`;
  return [{ area: "callbacks", about: "reports", state: "warning", says, mend: "see which, and tell the client" }];
}

type State = "well" | "warning" | "wrong" | "looking";

function stateOf(findings: readonly Finding[], results: readonly CheckResult[]): State {
  const [worst] = findings;
  if (worst !== undefined) return worst.state === "wrong" ? "wrong" : "warning";
  return results.every(({ atMs }) => atMs !== null) ? "well" : "looking";
}

function sentenceOf(state: State, findings: readonly Finding[], facts: readonly CarrierFacts[]): string {
  const wrong = findings.filter((finding) => finding.state === "wrong").length;
  const warnings = findings.length - wrong;
  const up =
    facts.length === 0
      ? "no carrier is served here"
      : facts.length === 1
        ? `the carrier ${facts[0]!.id} is up`
        : `all ${facts.length} carriers are up`;
  if (state === "well") return `All is well: ${up}, the balances agree, and nothing waits for you.`;
  if (state === "looking") return "Looking at everything: it takes a moment.";
  const told = [
    ...(wrong === 0 ? [] : [`${counted(wrong, "thing is", "things are")} wrong`]),
    ...(warnings === 0 ? [] : [`${counted(warnings, "thing needs", "things need")} a look`]),
  ];
  const sentence = told.join(", and ");
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function shownFinding(finding: Finding) {
  return {
    ...finding,
    says: finding.says.slice(0, MAX_WORDS),
    mend: finding.mend?.slice(0, MAX_WORDS) ?? null,
    page: pageOfFinding(finding),
  };
}

/** By the area and what was looked at; then by the area alone. What is mended outside (settings, disks) has no page. */
const MENDING_PAGES: Readonly<Record<string, string>> = {
  "store quarantine": "/unmatched?of=quarantine",
  "store nodes": "/nodes",
  "store roles": "/nodes",
  "store disk": "/nodes",
  "store clock": "/nodes",
  "catalogue routes": "/routes",
  "catalogue carriers": "/routes",
  "catalogue accounts": "/accounts",
  "catalogue numbers": "/routes",
  "callbacks receipts": "/unmatched?of=receipts",
  "callbacks incoming": "/unmatched?of=incoming",
  catalogue: "/routes",
  callbacks: "/reports",
};

/** The page of the console on which what was found can be mended. */
function pageOfFinding({ area, about }: Finding): string | null {
  if (area === "carriers") return `/carriers/${encodeURIComponent(about)}`;
  return MENDING_PAGES[`${area} ${about}`] ?? MENDING_PAGES[area] ?? null;
}
