/** The page "Requests": what an account has asked of this node lately, also what was refused, and why. */
import { boundedCache } from "../../runtime/cache.ts";
import { type Static, Type } from "../../runtime/type.ts";
import { statusById } from "../../sms/statuses.ts";
import type { Account } from "../../store/port/accounts.ts";
import { notBeyond, seesAll } from "../beyond.ts";
import { ApiError, ERROR_KINDS } from "../errors.ts";
import type { Rejections } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { type Fields, readText, readWord } from "../query.ts";
import { Flag, OptionalText, Text, Whole } from "../shapes.ts";
import { maskAddress, maskBody } from "./masks.ts";
import { BODY_OCTETS, MAX_OWN, type RequestRecord } from "./request-log.ts";
import { TRACKING, type View } from "./view.ts";

const MAX_ITEMS = 100;
const MAX_NAMES = 1_000;

const Item = {
  id: Type.String(),
  at: Type.String(),
  method: Type.String(),
  path: Text("With its query; secrets in it are masked."),
  status: Type.Integer(),
  durationMs: Type.Number(),
  door: Text("basic, key, session, console, query, or none."),
  by: Type.Union([Type.String(), Type.Null()], { description: "The API key's name or id, or the username." }),
  from: Text("The address that it came from."),
  rejected: Whole("How many of its messages were rejected though the request was not."),
  reason: Type.Union([Type.String(), Type.Null()], {
    description: "Why it was refused, or the first of its messages that was rejected; null where all went well.",
  }),
  fields: Type.Array(Type.String(), { description: "The fields that were wrong." }),
};
const RequestItem = Type.Object(Item);
const Requests = Type.Object({
  items: Type.Array(RequestItem, { description: "The newest first." }),
  kept: Type.Object({
    requests: Whole("How many of an account are kept, on each node, until it is started anew."),
    texts: Flag("Whether texts of messages are shown."),
  }),
});
const RequestDetail = Type.Object({
  ...Item,
  error: Type.Union([Type.String(), Type.Null()], { description: "The error's code, such as BAD_REQUEST." }),
  advice: Type.Union([Type.String(), Type.Null()], { description: "What to do." }),
  body: Type.Union([
    Type.Null(),
    Type.Object({
      text: Text("Its beginning; secrets in it are masked."),
      octets: Whole("Of the whole."),
      isWhole: Type.Boolean(),
      hasTexts: Flag("Whether texts of messages are shown."),
    }),
  ]),
});
type RequestItem = Static<typeof RequestItem>;

const REJECTED_ADVICE =
  "Each message of the answer has a status of its own: look at it, and not at the answer's 200 alone. A rejected message is not sent and costs nothing.";

function rejectionOf(rejections: Rejections | null): string | null {
  if (rejections === null) return null;
  const { rejected, messages, statusId, why } = rejections;
  return `Accepted, ${rejected} of ${messages} rejected: ${why ?? statusById(statusId).description}.`;
}

const WHICH = ["all", "refused"] as const;
const WHOSE = ["own", "nobody"] as const;

export function requestViews({ store, settings, requestLog }: ApiParts): View[] {
  const { requestTexts } = settings.console;
  /** What keys are called, by their ids. */
  const keyNames = boundedCache<string, string>(MAX_NAMES);

  /** The name of the key, which may have been revoked meanwhile. */
  const byOf = async ({ door, by }: RequestRecord, account: Account): Promise<string | null> => {
    if (door !== "key" || by === null) return by;
    const known = keyNames.get(`${account.id} ${by}`);
    if (known !== undefined) return known;
    const owner = await store.apiKeyOwner({ id: by });
    const name = owner?.accountId === account.id ? (owner.name ?? by) : by;
    keyNames.set(`${account.id} ${by}`, name);
    return name;
  };

  const itemOf = async (record: RequestRecord, account: Account): Promise<RequestItem> => {
    const { atMs, method, address, status, durationMs, door, from, refusal, rejections } = record;
    return {
      id: requestLog.idOf(record),
      at: new Date(atMs).toISOString(),
      method,
      path: maskAddress(address, requestTexts),
      status,
      durationMs: Math.round(durationMs * 10) / 10,
      door,
      by: await byOf(record, account),
      from,
      rejected: rejections?.rejected ?? 0,
      reason: refusal === null ? rejectionOf(rejections) : (refusal.description ?? ERROR_KINDS[refusal.kindName].when),
      fields: [...(refusal?.variables ?? [])],
    };
  };

  const detailOf = async (record: RequestRecord, account: Account) => {
    const { refusal, rejections, body, bodyOctets, isForm } = record;
    const octets = Buffer.from(body, "latin1");
    return {
      ...(await itemOf(record, account)),
      error: refusal?.messageId ?? null,
      advice: refusal === null ? (rejections === null ? null : REJECTED_ADVICE) : ERROR_KINDS[refusal.kindName].remedy,
      body:
        bodyOctets === 0
          ? null
          : {
              text: maskBody(octets.toString("utf8"), isForm, requestTexts),
              octets: bodyOctets,
              isWhole: bodyOctets <= BODY_OCTETS,
              hasTexts: requestTexts,
            },
    };
  };

  /** Those that the caller asks for and may see. Whose nobody's are says nothing, so they are the operator's. */
  const recordsFor = (caller: Account, fields: Fields): RequestRecord[] => {
    if (readWord(fields, "whose", WHOSE) !== "nobody") return requestLog.of(caller.id);
    if (seesAll(caller)) return requestLog.nobodys();
    if (caller.kind === "operator") throw notBeyond();
    throw new ApiError("forbidden", "Requests that name no account are shown to operators.");
  };

  const Whose = OptionalText("own, or nobody for requests that name no account, which operators see.");
  return [
    {
      name: "requests",
      summary: "The last requests of the account on this node",
      ...TRACKING,
      query: Type.Object({
        which: OptionalText("all, or refused: also those of which messages were rejected."),
        path: OptionalText("What the path contains."),
        whose: Whose,
      }),
      answer: Requests,
      async read(caller, fields) {
        const refusedOnly = readWord(fields, "which", WHICH) === "refused";
        const path = readText(fields, "path");
        const records = recordsFor(caller, fields)
          .filter(({ status, rejections }) => !refusedOnly || status >= 400 || rejections !== null)
          .filter(({ address }) => path === null || address.split("?", 1)[0]!.includes(path))
          .slice(0, MAX_ITEMS);
        const items: RequestItem[] = [];
        for (const record of records) items.push(await itemOf(record, caller));
        return { items, kept: { requests: MAX_OWN, texts: requestTexts } };
      },
    },
    {
      name: "request",
      summary: "One of the last requests of the account on this node",
      ...TRACKING,
      query: Type.Object({ id: Type.String(), whose: Whose }),
      answer: RequestDetail,
      async read(caller, fields) {
        const id = readText(fields, "id");
        const record = recordsFor(caller, fields).find((one) => requestLog.idOf(one) === id);
        if (record === undefined)
          throw new ApiError(
            "notFound",
            `The request is not kept any more, or another node had it: each keeps the last ${MAX_OWN} of an account until it is started anew.`,
          );
        return detailOf(record, caller);
      },
    },
  ];
}
