/** What came in and belongs to nothing that is known, and what the store refused: with the reason of each, to be looked through and dropped. */
import { type Static, Type } from "../../runtime/type.ts";
import type { AsideKind } from "../../store/port/quarantine.ts";
import { badField } from "../errors.ts";
import { type Api, operation } from "../operation.ts";
import { actorOf } from "../operator/managing.ts";
import type { ApiParts } from "../parts.ts";
import { readText, readWord } from "../query.ts";
import { OneOf, OptionalText, Text, Whole } from "../shapes.ts";
import { isoTime, StringOrNull } from "./schemas.ts";
import { OPERATING, VIEW_ROOT, type View } from "./view.ts";

const KINDS = ["receipts", "incoming", "quarantine"] as const;
type Kind = (typeof KINDS)[number];
const ASIDE: Readonly<Record<Kind, AsideKind>> = {
  receipts: "receipt",
  incoming: "incoming",
  quarantine: "quarantine",
};

/** A search looks through so many of the newest. */
const LOOKED_THROUGH = 1_000;
const MAX_ROWS = 100;
const MAX_WORDS = 500;
const MAX_IDS = 500;

const Row = Type.Object({
  id: Type.String(),
  at: Type.String(),
  carrier: StringOrNull,
  /** Why it is here. */
  why: Type.String(),
  subject: Text("The carrier's id, the phone's number, or what the store was told of."),
  to: StringOrNull,
  detail: Type.String(),
  times: Whole("How often it has come."),
});

type UnmatchedRow = Static<typeof Row>;

const clip = (text: string): string => text.slice(0, MAX_WORDS);

export function unmatchedViews({ store }: ApiParts): View[] {
  const rows: Readonly<Record<Kind, (limit: number) => Promise<{ count: number; rows: UnmatchedRow[] }>>> = {
    receipts: async (limit) => {
      const { count, receipts } = await store.parkedReceipts({ limit });
      return {
        count,
        rows: receipts.map(({ id, atMs, carrierId, carrierMessageId, to, outcome, errorId, why, times, octets }) => ({
          id: String(id),
          at: isoTime(atMs),
          carrier: carrierId,
          why,
          subject: clip(carrierMessageId),
          to,
          detail: octets === null ? `${outcome}${errorId === 0 ? "" : `, error ${errorId}`}` : clip(octets),
          times,
        })),
      };
    },
    incoming: async (limit) => {
      const { count, messages } = await store.unmatchedIncoming({ limit });
      return {
        count,
        rows: messages.map(({ messageId, receivedAtMs, carrierId, from, to, text, smsCount }) => ({
          id: messageId,
          at: isoTime(receivedAtMs),
          carrier: carrierId,
          why: "nobody's number",
          subject: from,
          to,
          detail: clip(text),
          times: smsCount,
        })),
      };
    },
    quarantine: async (limit) => {
      const { count, items } = await store.quarantined({ limit });
      return {
        count,
        rows: items.map(({ id, atMs, command, subject, reason, detail }) => ({
          id: String(id),
          at: isoTime(atMs),
          carrier: null,
          why: `${command}: ${clip(reason)}`,
          subject: clip(subject),
          to: null,
          detail: clip(detail),
          times: 1,
        })),
      };
    },
  };

  return [
    {
      name: "unmatched",
      ...OPERATING,
      summary: "See what matched nothing, and what the store refused, newest first",
      query: Type.Object({
        of: OptionalText(`${KINDS.join(", ")}; receipts unless given.`),
        search: OptionalText(`A text, looked for in the newest ${LOOKED_THROUGH}.`),
      }),
      answer: Type.Object({
        counts: Type.Object({ receipts: Type.Integer(), incoming: Type.Integer(), quarantine: Type.Integer() }),
        promised: Whole("How much of the quarantine was promised to clients, and is in no table."),
        found: Whole("How many the search has found."),
        lookedThrough: Type.Integer(),
        results: Type.Array(Row),
      }),
      read: async (_, fields) => {
        const of = readWord(fields, "of", KINDS) ?? "receipts";
        const search = readText(fields, "search")?.toLowerCase() ?? null;
        const [receipts, incoming, { count: quarantine, promised }] = await Promise.all([
          of === "receipts" ? null : store.parkedReceipts({ limit: 1 }),
          of === "incoming" ? null : store.unmatchedIncoming({ limit: 1 }),
          store.quarantined({ limit: 1 }),
        ]);
        const { count, rows: all } = await rows[of](search === null ? MAX_ROWS : LOOKED_THROUGH);
        const isFound = ({ carrier, why, subject, to, detail }: UnmatchedRow): boolean =>
          [carrier, why, subject, to, detail].some((text) => text?.toLowerCase().includes(search ?? "") === true);
        const found = search === null ? all : all.filter(isFound);
        return {
          counts: { receipts: receipts?.count ?? count, incoming: incoming?.count ?? count, quarantine },
          promised,
          found: search === null ? count : found.length,
          lookedThrough: all.length,
          results: found.slice(0, MAX_ROWS),
        };
      },
    },
  ];
}

const Discard = Type.Object(
  {
    of: OneOf(KINDS),
    ids: Type.Array(Type.String({ maxLength: 20 }), { minItems: 1, maxItems: MAX_IDS }),
  },
  { additionalProperties: false },
);

export function unmatchedOperations(api: Api, { store, clock }: ApiParts): void {
  api.post(
    `${VIEW_ROOT}unmatched/drop`,
    operation({
      ...OPERATING,
      id: "consoleDropUnmatched",
      summary: "Drop what matched nothing, or was refused, and has been looked at",
      schema: { body: Discard },
      answer: Type.Object({ dropped: Type.Integer() }),
    }),
    async (request) => {
      const { of, ids } = request.body;
      if (ids.some((id) => !/^\d{1,19}$/.test(id))) throw badField("ids", "must be ids that were listed");
      const made = { by: actorOf(request), atMs: clock.now() };
      return { dropped: (await store.discard({ ...made, kind: ASIDE[of], ids })).discarded };
    },
  );
}
