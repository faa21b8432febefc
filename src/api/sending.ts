/** The sending operations: advanced (both versions), multi and single, of texts and of binary messages. */
import type { FastifyRequest } from "fastify";
import type { Intake } from "../intake/intake.ts";
import type {
  BinaryFields,
  MessageFields,
  MessageResult,
  RequestedMessage,
  SendAnswer,
  SendRequest,
} from "../intake/request.ts";
import type { TSchema } from "../runtime/type.ts";
import { speedLimitOf } from "../schedule/pace.ts";
import { VALIDITY_UNITS_MS } from "../schedule/sending-time.ts";
import { numberFault } from "../sms/addresses.ts";
import { STATUS, statusById } from "../sms/statuses.ts";
import { isByConsole } from "./console/cookie.ts";
import { badField, badFields } from "./errors.ts";
import { bodyHash, idempotencyKey, keyReused } from "./idempotency.ts";
import { conversionWish, linkWish } from "./link-options.ts";
import { type Api, accountOf, operation, type Rejections, SENDING } from "./operation.ts";
import { readDayNumbers } from "./ordinals.ts";
import * as schemas from "./schemas.ts";

type Wishes = Partial<Pick<SendRequest, "links" | "conversion" | "speedLimit">>;

export function sendRequest(
  request: FastifyRequest,
  bulkId: string | undefined,
  messages: RequestedMessage[],
  query = "",
  { speedLimit = null, links = null, conversion = null }: Wishes = {},
): SendRequest {
  return {
    bulkId: bulkId === undefined || bulkId === "" ? null : bulkId,
    messages,
    idempotencyKey: idempotencyKey(request),
    bodyHash: () => bodyHash(request, query),
    speedLimit,
    links,
    conversion,
    door: () => doorOf(request),
  };
}

/** How a request came, as the timeline of its messages says it. */
function doorOf(request: FastifyRequest): string {
  const { method, headers } = request;
  if (method === "GET") return "query URL";
  if (isByConsole(request)) return "console";
  return headers["content-type"]?.includes("form") === true ? "form" : "JSON";
}

function listOf(to: string | string[]): string[] {
  return typeof to === "string" ? [to] : to;
}

export type Accepted = Extract<SendAnswer, { kind: "accepted" }>;

/** The accepted answer, or the error that the other kinds are. */
export function accepted(request: FastifyRequest, answer: SendAnswer): Accepted {
  if (answer.kind === "conflict") throw keyReused();
  if (answer.kind === "wrong") throw badFields(answer.problems);
  request.odd = oddIn(answer);
  request.rejections = rejectionsIn(answer);
  return answer;
}

function oddIn(answer: Accepted): readonly string[] | null {
  const told = [wrongIn(answer), nationalIn(answer)].filter((each) => each !== null);
  const { warnings = [] } = answer;
  return told.length + warnings.length === 0 ? null : [...told, ...warnings];
}

const ZERO = 0x30;

/** The first result that is meant, and how many others are, in words. */
function firstOf({ results }: Accepted, isMeant: (result: MessageResult) => boolean) {
  let count = 0;
  let first = 0;
  for (let at = 0; at < results.length; at++) {
    if (isMeant(results[at]!) && count++ === 0) first = at;
  }
  if (count === 0) return null;
  const others = count === 1 ? "" : count === 2 ? " (so does another)" : ` (so do ${count - 1} others)`;
  return { number: results[first]!.to, name: `the number of destination ${first + 1}`, others };
}

/** What is no number. */
function wrongIn(answer: Accepted): string | null {
  const found = firstOf(answer, ({ statusId }) => statusId === STATUS.REJECTED_DESTINATION.id);
  return found === null ? null : `${found.name} ${numberFault(found.number)}`;
}

/** Behind the zeros that stand for a plus sign no number in international form begins with one; in most countries those that people dial do. */
function nationalIn(answer: Accepted): string | null {
  const found = firstOf(
    answer,
    ({ to, statusId }) => to.charCodeAt(0) === ZERO && statusId !== STATUS.REJECTED_DESTINATION.id,
  );
  if (found === null) return null;
  return `${found.name} begins with 0${found.others}: no country code does; write it with its country code, as +41793026727 for Switzerland's 0793026727`;
}

const GOOD = new Set([STATUS.PENDING_ENROUTE.id, STATUS.PENDING_ACCEPTED.id]);

/** Whether a message with this status goes its way. */
export function isGood(statusId: number): boolean {
  return GOOD.has(statusId);
}

function rejectionsIn(answer: Accepted): Rejections | null {
  const { results } = answer;
  let rejected = 0;
  let first = 0;
  for (const { statusId } of results) {
    if (GOOD.has(statusId) || statusById(statusId).groupId !== STATUS.REJECTED_SOURCE.groupId) continue;
    if (rejected++ === 0) first = statusId;
  }
  return rejected === 0
    ? null
    : { rejected, messages: results.length, statusId: first, why: whyRejected(answer, first) };
}

function whyRejected(answer: Accepted, statusId: number): string | null {
  if (statusId === STATUS.REJECTED_DESTINATION.id) return wrongIn(answer);
  return statusId === STATUS.REJECTED_SOURCE.id ? (answer.warnings?.[0] ?? null) : null;
}

/** What cannot be a phone's number has no message that could be asked for, unless the client has a name for it. */
function messageIdOf({ statusId, messageId, isChosen }: MessageResult): string | undefined {
  return statusId === STATUS.REJECTED_DESTINATION.id && !isChosen ? undefined : messageId;
}

function results(answer: Accepted) {
  return answer.results.map((result) => ({
    to: result.to,
    status: statusById(result.statusId),
    smsCount: result.statusId === STATUS.PENDING_ACCEPTED.id ? undefined : result.smsCount,
    messageId: messageIdOf(result),
  }));
}

/** Version 2 answers before anything is handed on: what is accepted is pending, and parts are counted for whoever asks. */
function resultsV2(answer: Accepted, withSmsCount: boolean) {
  return answer.results.map((result) => {
    const { to, statusId, smsCount } = result;
    return {
      to,
      status: statusById(statusId === STATUS.PENDING_ENROUTE.id ? STATUS.PENDING_ACCEPTED.id : statusId),
      smsCount: withSmsCount ? smsCount : undefined,
      messageId: messageIdOf(result),
    };
  });
}

/** What the messages of an operation carry. */
type Kind = "text" | "binary";

interface SingleBody extends Validity {
  readonly to: string | string[];
  readonly bulkId?: string;
  readonly messageId?: string;
}

interface AdvancedBody {
  readonly bulkId?: string;
  readonly tracking?: { readonly track?: string; readonly type?: string; readonly processKey?: string };
  readonly messages: readonly (Validity & Pick<RequestedMessage, "destinations">)[];
  readonly sendingSpeedLimit?: Parameters<typeof speedLimitOf>[0];
  readonly urlOptions?: Parameters<typeof linkWish>[0];
}

/** A field that belongs to the other kind is one that nobody knows here. */
function fieldsOf(kind: Kind, fields: object): MessageFields {
  if (!("text" in fields && "binary" in fields)) return fields as MessageFields;
  const { text, binary, ...options } = fields as { text: string; binary: BinaryFields };
  return kind === "text" ? { ...options, text } : { ...options, binary };
}

interface Validity {
  readonly validityPeriod?: number;
  readonly validityPeriodTimeUnit?: keyof typeof VALIDITY_UNITS_MS;
}

/** How long a message is valid whose client names the unit; without one it is minutes, and intake reads them. */
function validityOf({ validityPeriod, validityPeriodTimeUnit: unit }: Validity): number | undefined {
  return validityPeriod === undefined || unit === undefined ? undefined : validityPeriod * VALIDITY_UNITS_MS[unit];
}

/** A message of a request, with the place where its body has it. */
function requestedMessage(
  kind: Kind,
  path: string,
  message: Validity,
  destinations: RequestedMessage["destinations"],
): RequestedMessage {
  return { path, fields: fieldsOf(kind, message), validityMs: validityOf(message), destinations };
}

/** To send with links as they are is not what was asked for. */
export function refuseUrlTracking(track: string | undefined, field: string): void {
  if (track?.toUpperCase() === "URL") throw badField(field, "cannot be URL: links are shortened by urlOptions");
}

/**
 * One message to one or more destinations. `query` is what the request says beside its body. The answer has a bulkId for several destinations, and for
 * whoever has to have it to manage what waits.
 */
export async function sendSingle(
  intake: Pick<Intake, "send">,
  request: FastifyRequest,
  kind: Kind,
  body: SingleBody,
  query = "",
  isManaged = false,
  conversion: SendRequest["conversion"] = null,
) {
  const { to, bulkId, messageId } = body;
  const numbers = listOf(to);
  // A messageId of the client's can name only one message.
  const named = numbers.length === 1 && messageId !== undefined ? { messageId } : {};
  const destinations = numbers.map((number) => ({ to: number, ...named }));
  const messages = [requestedMessage(kind, "", body, destinations)];
  const answer = accepted(
    request,
    await intake.send(accountOf(request), sendRequest(request, bulkId, messages, query, { conversion })),
  );
  return { ...(numbers.length > 1 || isManaged ? { bulkId: answer.bulkId } : {}), messages: results(answer) };
}

export function sendingOperations(api: Api, intake: Pick<Intake, "send">): void {
  operationsFor(api, intake, "text", "text");
  operationsFor(api, intake, "binary", "binary message");
}

function operationsFor(api: Api, intake: Pick<Intake, "send">, kind: Kind, one: string): void {
  const requests = schemas.SendingRequests[kind];
  const name = kind === "text" ? "Text" : "Binary";
  const send = (request: FastifyRequest, bulkId: string | undefined, messages: RequestedMessage[], wishes?: Wishes) =>
    intake.send(accountOf(request), sendRequest(request, bulkId, messages, "", wishes));
  const advanced = (request: FastifyRequest, body: AdvancedBody): Promise<SendAnswer> => {
    const { track, type, processKey } = body.tracking ?? {};
    refuseUrlTracking(track, "tracking.track");
    const messages = body.messages.map((message, index) =>
      requestedMessage(kind, `messages[${index}]`, message, message.destinations),
    );
    return send(request, body.bulkId, messages, {
      speedLimit: speedLimitOf(body.sendingSpeedLimit),
      links: linkWish(body.urlOptions),
      conversion: conversionWish(track, type, processKey),
    });
  };

  /** What all of them are made with. */
  const sending = <const Body extends TSchema, Answer extends TSchema>(
    id: string,
    summary: string,
    body: Body,
    answer: Answer,
  ) => {
    const options = operation({
      ...SENDING,
      tag: "Sending",
      id: `send${name}${id}`,
      summary,
      bodyOctets: "large",
      schema: { body },
      answer,
    });
    return { ...options, config: { ...options.config, isShort: true }, preValidation: readDayNumbers };
  };

  api.post(
    `/sms/1/${kind}/advanced`,
    sending("Advanced", `Send fully featured ${one}s`, requests.advanced, schemas.AdvancedResponse),
    async (request) => {
      const answer = accepted(request, await advanced(request, request.body));
      // A client's own is told again, also in an answer that is given again: it is the same request.
      const trackingProcessKey = request.body.tracking?.processKey || answer.trackingProcessKey;
      return { bulkId: answer.bulkId, trackingProcessKey, messages: results(answer) };
    },
  );

  api.post(
    `/sms/2/${kind}/advanced`,
    sending("AdvancedV2", `Send fully featured ${one}s, version 2`, requests.advancedV2, schemas.BulkResponse),
    async (request) => {
      const answer = accepted(request, await advanced(request, request.body));
      return { bulkId: answer.bulkId, messages: resultsV2(answer, request.body.includeSmsCountInResponse === true) };
    },
  );

  // Of these two version 2 is the first one under another path.
  for (const version of [1, 2]) {
    const suffix = version === 1 ? "" : `V${version}`;
    const too = version === 1 ? "" : `, version ${version}`;
    api.post(
      `/sms/${version}/${kind}/multi`,
      sending(
        `Multi${suffix}`,
        `Send different ${one}s to different destinations${too}`,
        requests.multi,
        schemas.BulkResponse,
      ),
      async (request) => {
        const messages = request.body.messages.map((message, index) => {
          const destinations = listOf(message.to).map((number) => ({ to: number }));
          return requestedMessage(kind, `messages[${index}]`, message, destinations);
        });
        const answer = accepted(request, await send(request, request.body.bulkId, messages));
        return { bulkId: answer.bulkId, messages: results(answer) };
      },
    );
    api.post(
      `/sms/${version}/${kind}/single`,
      sending(
        `Single${suffix}`,
        `Send one ${one} to one or more destinations${too}`,
        requests.single,
        schemas.SingleResponse,
      ),
      async (request) => sendSingle(intake, request, kind, request.body),
    );
  }
}
