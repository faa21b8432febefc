/** The carriers as they are now: a row each, and one of them with its connections and its last hours. What is set about them is at /operator/1/carriers. */
import type { CarrierFacts } from "../../carriers/facts.ts";
import { type CarrierProfile, kindOf } from "../../catalogue/carrier-kinds.ts";
import { tryCarrier } from "../../doctor/carrier-try.ts";
import { Type } from "../../runtime/type.ts";
import type { NodeFacts } from "../../store/port/nodes.ts";
import { ApiError, tooMany } from "../errors.ts";
import { type Api, operation } from "../operation.ts";
import { actorOf, named } from "../operator/managing.ts";
import type { ApiParts } from "../parts.ts";
import { readText } from "../query.ts";
import { OneOf, OptionalText, Text, Whole } from "../shapes.ts";
import { carrierFields } from "./carrier-fields.ts";
import { whyDown } from "./carrier-findings.ts";
import { KEPT_SAMPLES } from "./health.ts";
import { reasonsOf } from "./reasons.ts";
import { isoTime, isoTimeOrNull, NumberOrNull, Reasons, StringOrNull, Times } from "./schemas.ts";
import { OPERATING, VIEW_ROOT, type View } from "./view.ts";

const MAX_ROWS = 200;
const MAX_LINKS = 200;
const MAX_REASONS = 20;
/** Five minutes. */
const SPARK_SAMPLES = 60;
const HISTORY_POINTS = 180;

const CarrierRow = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  state: OneOf(
    ["up", "slow", "sick", "down", "elsewhere"],
    "slow, sick: it is up, and hardly takes any messages; from sick on they take another carrier. elsewhere: this node does not serve it, and another one may.",
  ),
  since: StringOrNull,
  why: StringOrNull,
  bound: Whole("Connections that are bound, of those that this node may have."),
  connections: Type.Integer(),
  binds: Whole("Connections that are allowed, for all nodes together."),
  nodes: Type.Array(Type.Object({ name: Type.String(), binds: Type.Integer(), isSelf: Type.Boolean() }), {
    description: "How the nodes share them, where there are several nodes.",
  }),
  windowUsed: Type.Integer(),
  window: Type.Integer(),
  paceLimit: NumberOrNull,
  paceFound: NumberOrNull,
  partsPerSecond: Type.Array(NumberOrNull, {
    description: "In the last five minutes, oldest first, every five seconds.",
  }),
  answerTimes: Times,
  receiptTimes: Times,
  throttled: Type.Integer(),
  later: Type.Integer(),
  unknown: Type.Integer(),
  refused: Type.Integer(),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  parts: Type.Integer(),
  waiting: Type.Integer(),
  putOff: Type.Integer(),
  inFlight: Type.Integer(),
  lanes: Type.Integer(),
  overflowedLanes: Type.Integer(),
  isPaused: Type.Boolean(),
  lastReceiptAt: StringOrNull,
});

const CarrierAnswer = Type.Object({
  ...CarrierRow.properties,
  links: Type.Array(
    Type.Object({
      kind: Type.String(),
      host: Type.String(),
      isBound: Type.Boolean(),
      since: Type.String(),
      problem: StringOrNull,
      problemAt: StringOrNull,
      nextTryAt: StringOrNull,
      inFlight: Type.Integer(),
    }),
  ),
  reasons: Reasons,
  history: Type.Object({ at: Type.Array(Type.String()), parts: Type.Array(NumberOrNull) }),
});

/** What a carrier is that this node does not serve. */
const NOT_SERVED = {
  sinceMs: null,
  health: null,
  connections: null,
  windowUsed: 0,
  window: 0,
  waiting: 0,
  putOff: 0,
  inFlight: 0,
  lanes: 0,
  overflowedLanes: 0,
  isPaused: false,
  parts: 0,
  refused: 0,
  later: 0,
  unknown: 0,
  delivered: 0,
  failed: 0,
  answerTimes: null,
  receiptTimes: null,
  lastReceiptMs: null,
} as const;

export function carrierViews({ health, catalogue }: ApiParts): View[] {
  const rowOf = (profile: CarrierProfile, facts: CarrierFacts | undefined, nodes: readonly NodeFacts[]) => {
    const { sinceMs, health: well, connections, lastReceiptMs, ...known } = facts ?? NOT_SERVED;
    const ill = facts?.isUp === true && facts.health.state !== "well" ? well : null;
    const links = connections?.links ?? [];
    return {
      ...known,
      id: profile.id,
      kind: profile.kind,
      state: facts === undefined ? "elsewhere" : !facts.isUp ? "down" : (ill?.state ?? "up"),
      since: isoTimeOrNull(ill?.sinceMs ?? sinceMs),
      why: facts === undefined ? null : whyDown(facts),
      bound: links.filter(({ isBound }) => isBound).length,
      connections: links.length,
      binds: kindOf(profile).binds(profile) ?? 1,
      nodes: nodes.flatMap(({ name, isSelf, binds }) => {
        const own = binds.find(({ carrierId }) => carrierId === profile.id);
        return own === undefined ? [] : [{ name, isSelf, binds: own.count }];
      }),
      paceLimit: connections?.paceLimit ?? null,
      paceFound: connections?.paceFound ?? null,
      throttled: connections?.throttled ?? 0,
      partsPerSecond: health.partsSent(profile.id, SPARK_SAMPLES).parts,
      lastReceiptAt: isoTimeOrNull(lastReceiptMs),
    };
  };

  return [
    {
      name: "carriers",
      ...OPERATING,
      summary: "See the carriers as they are now",
      answer: Type.Object({
        node: Text("The node that answers: what is counted is its own."),
        count: Type.Integer(),
        results: Type.Array(CarrierRow),
      }),
      read: async () => {
        const { carriers } = catalogue.current;
        const [facts, { nodes }] = await Promise.all([health.carriers(), health.cluster()]);
        const byId = new Map(facts.map((one) => [one.id, one]));
        return {
          node: nodes.find(({ isSelf }) => isSelf)?.name ?? "",
          count: carriers.length,
          results: carriers.slice(0, MAX_ROWS).map((profile) => rowOf(profile, byId.get(profile.id), nodes)),
        };
      },
    },
    {
      name: "carrier",
      ...OPERATING,
      summary: "See one carrier with its connections",
      query: Type.Object({ id: Type.String() }),
      answer: CarrierAnswer,
      read: async (_, fields) => {
        const id = readText(fields, "id");
        const profile = catalogue.current.carriers.find((one) => one.id === id);
        if (profile === undefined) throw new ApiError("notFound", "There is no such carrier.");
        const [all, { nodes }] = await Promise.all([health.carriers(), health.cluster()]);
        const facts = all.find((one) => one.id === id);
        const { atMs, parts } = health.partsSent(profile.id, KEPT_SAMPLES, KEPT_SAMPLES / HISTORY_POINTS);
        return {
          ...rowOf(profile, facts, nodes),
          links: (facts?.connections?.links ?? []).slice(0, MAX_LINKS).map((link) => ({
            ...link,
            since: isoTime(link.sinceMs),
            problemAt: isoTimeOrNull(link.problemMs),
            nextTryAt: isoTimeOrNull(link.nextTryMs),
          })),
          reasons: reasonsOf([facts?.reasons ?? []], MAX_REASONS),
          history: { at: atMs.map(isoTime), parts },
        };
      },
    },
    {
      name: "carrier-kinds",
      ...OPERATING,
      summary: "See which fields a carrier of each kind has",
      answer: Type.Object({ kinds: Type.Array(Type.Object({}, { additionalProperties: true })) }),
      read: async () => ({ kinds: carrierFields() }),
    },
  ];
}

const TryBody = Type.Object({
  to: Text("The phone, with its country's code."),
  from: OptionalText("The sender; Heliograph unless given."),
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 160 })),
});
const TryAnswer = Type.Object({
  problem: StringOrNull,
  lines: Type.Array(Type.String(), { description: "What was asked and answered, without secrets." }),
});
/** Together less than an answer may take. */
const TRY_TIMES = { answerMs: 10_000, waitMs: 10_000 };
const MAX_LINE = 2_000;

export function carrierOperations(api: Api, { store, settings, clock }: ApiParts): void {
  let isTrying = false;
  api.post(
    `${VIEW_ROOT}carriers/:id/try`,
    operation({
      ...OPERATING,
      id: "consoleTryCarrier",
      summary: "Send one message through a carrier, past routes and prices, and see what was asked and answered",
      schema: { body: TryBody },
      answer: TryAnswer,
    }),
    async (request) => {
      if (isTrying) throw tooMany("A carrier is being tried: wait for its end.");
      isTrying = true;
      try {
        const lines: string[] = [];
        const { to, from = "Heliograph", text = "Hello from Heliograph" } = request.body;
        const wanted = { to, from, text, id: named(request, "id"), by: actorOf(request), atMs: clock.now() };
        const say = (line: string) => lines.push(line.slice(0, MAX_LINE));
        return { problem: await tryCarrier(store, settings, { ...wanted, ...TRY_TIMES }, say), lines };
      } finally {
        isTrying = false;
      }
    },
  );
}
