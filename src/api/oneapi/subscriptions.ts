/** Subscriptions of the OneAPI: where reports go of messages without a URL of their own, and where messages from phones go. */
import type { FastifyRequest } from "fastify";
import { firstWord, inCapitals } from "../../message/incoming.ts";
import type {
  Subscription,
  SubscriptionChange,
  SubscriptionKind,
  SubscriptionWish,
} from "../../message/subscription.ts";
import { isSender } from "../../sms/addresses.ts";
import { checkScope } from "../auth.ts";
import { ApiError, badField } from "../errors.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { actorOf, named } from "../operator/managing.ts";
import { bodyFields, type Fields } from "../parameters.ts";
import type { ApiParts } from "../parts.ts";
import type { Uncalled } from "../uncalled.ts";
import {
  bareAddress,
  ONE_API,
  OTHER_CORRELATOR,
  readCallbackData,
  readCorrelator,
  readCount,
  readField,
  resourceUrl,
  senderInPath,
} from "./fields.ts";
import * as schemas from "./schemas.ts";
import { readNotifyUrl, readSender } from "./sending.ts";

const MAX_CRITERIA = 64;
/** Longer than any id. */
const MAX_ID = 2_048;

/** They decide where reports and messages go. */
const CHANGING = { ...ONE_API, scope: "manage" } as const;
const OUTBOUND = "/1/smsmessaging/outbound";
const INBOUND = "/1/smsmessaging/inbound";

function readCriteria(fields: Fields): string | null {
  const criteria = readField(fields, "criteria", MAX_CRITERIA);
  if (criteria === undefined) return null;
  // What is more than a word is never the first word of a text.
  if (firstWord(criteria) !== inCapitals(criteria)) throw badField("criteria", "must be one word");
  return criteria;
}

/** What both kinds have. */
function readWish(fields: Fields): Omit<SubscriptionWish, "kind" | "address" | "format"> {
  const notifyUrl = readNotifyUrl(fields);
  if (notifyUrl === undefined) throw badField("notifyURL", "is required");
  return {
    notifyUrl,
    criteria: readCriteria(fields),
    callbackData: readCallbackData(fields) ?? null,
    correlator: readCorrelator(fields) ?? null,
  };
}

function readFormat(fields: Fields): "JSON" | "XML" {
  const format = readField(fields, "notificationFormat", 16)?.toUpperCase() ?? "JSON";
  if (format !== "JSON" && format !== "XML") throw badField("notificationFormat", "must be JSON or XML");
  return format;
}

function ownOf(request: FastifyRequest, kind: SubscriptionKind): Subscription[] {
  return (accountOf(request).subscriptions ?? []).filter((each) => each.kind === kind);
}

const unknown = (): ApiError => new ApiError("notFound", "There is no such subscription.");

function oneOf(request: FastifyRequest, kind: SubscriptionKind): Subscription {
  const id = named(request, "id");
  const found = ownOf(request, kind).find((each) => each.id === id);
  if (found === undefined) throw unknown();
  return found;
}

/** One client has the whole URL of a subscription for its id: the last segment counts. */
function idIn(request: FastifyRequest): string {
  const { id, "*": rest } = request.params as { readonly id?: string; readonly "*"?: string };
  return (id ?? rest ?? "").split("/").findLast((step) => step !== "") ?? "";
}

function deliveryAnswer({ id, address, criteria, notifyUrl, callbackData }: Subscription) {
  return { subscriptionId: id, senderAddress: address, criteria, notifyUrl, callbackData };
}

function inboundAnswer({ id, address, criteria, notifyUrl, callbackData, format }: Subscription) {
  return {
    subscriptionId: id,
    notifyURL: notifyUrl,
    callbackData,
    criteria,
    destinationAddress: address ?? "",
    notificationFormat: format ?? "JSON",
  };
}

export function subscriptionOperations(
  api: Api,
  { store, clock, catalogue, settings }: ApiParts,
  uncalled: Uncalled,
): void {
  const change = async (request: FastifyRequest, wanted: SubscriptionChange): Promise<Subscription> => {
    const account = accountOf(request);
    // Whoever may not read messages may not have them sent elsewhere either: so it is with the scope of reading, too.
    checkScope(account, "track", settings.resellers);
    const url = wanted.kind === "make" ? wanted.wish.notifyUrl : wanted.kind === "redirect" ? wanted.notifyUrl : null;
    const warning = url === null ? null : uncalled(url);
    const outcome = await store.changeSubscriptions({
      accountId: account.id,
      change: wanted,
      by: actorOf(request),
      atMs: clock.now(),
    });
    switch (outcome.kind) {
      case "done":
        if (warning !== null) request.odd = [warning];
        return outcome.subscription;
      case "unknown":
        throw unknown();
      case "conflict":
        throw new ApiError("conflict", "The clientCorrelator was used for another subscription.");
      case "too many":
        throw new ApiError(
          "badRequest",
          "The account has no room for another subscription: delete one that is not needed any more.",
        );
    }
  };

  const makeDelivery = async (request: FastifyRequest, inPath: string | null) => {
    const fields = bodyFields(request);
    const address = readSender(fields) ?? inPath;
    if (address !== null && !isSender(address))
      throw badField("senderAddress", "must be a sender: a number, or a name of at most 11 characters");
    const wish = { kind: "delivery", address, format: null, ...readWish(fields) } as const;
    const { id, callbackData, notifyUrl } = await change(request, { kind: "make", wish });
    const resourceURL = resourceUrl(request, "outbound", "subscriptions", id);
    return {
      deliveryReceiptSubscription: { callbackReference: { callbackData, notifyURL: notifyUrl }, resourceURL },
    };
  };
  const makingDelivery = {
    ...CHANGING,
    form: "lists",
    takes: schemas.DeliverySubscriptionRequest,
    alsoTakes: [OTHER_CORRELATOR],
    makes: true,
    answer: schemas.MadeDeliverySubscription,
  } as const;
  api.post(
    `${OUTBOUND}/:sender/subscriptions`,
    operation({
      id: "oneApiSubscribeToReportsOfSender",
      summary: "Have the reports of a sender's messages pushed that name no URL of their own",
      ...makingDelivery,
    }),
    (request) => makeDelivery(request, senderInPath(request)),
  );
  api.post(
    `${OUTBOUND}/subscriptions`,
    operation({
      id: "oneApiSubscribeToReports",
      summary: "Have the reports of messages pushed that name no URL of their own",
      ...makingDelivery,
    }),
    (request) => makeDelivery(request, null),
  );

  api.get(
    `${OUTBOUND}/subscriptions`,
    operation({
      id: "oneApiReportSubscriptions",
      summary: "List your subscriptions to reports",
      ...ONE_API,
      answer: schemas.DeliverySubscriptions,
    }),
    async (request) => ({ deliveryReceiptSubscriptions: ownOf(request, "delivery").map(deliveryAnswer) }),
  );
  api.get(
    `${OUTBOUND}/:sender/subscriptions`,
    operation({
      id: "oneApiReportSubscriptionsOfSender",
      summary: "List your subscriptions to reports of a sender's messages",
      ...ONE_API,
      answer: schemas.DeliverySubscriptions,
    }),
    async (request) => {
      const sender = senderInPath(request);
      const own = ownOf(request, "delivery").filter(({ address }) => address === sender);
      return { deliveryReceiptSubscriptions: own.map(deliveryAnswer) };
    },
  );
  api.get(
    `${OUTBOUND}/subscriptions/:id`,
    operation({
      id: "oneApiReportSubscription",
      summary: "Look at a subscription to reports",
      ...ONE_API,
      answer: schemas.OneDeliverySubscription,
    }),
    async (request) => ({ deliveryReceiptSubscription: deliveryAnswer(oneOf(request, "delivery")) }),
  );

  const inboundResource = (request: FastifyRequest, { id }: Subscription) => ({
    resourceReference: { resourceURL: resourceUrl(request, "inbound", "subscriptions", id) },
  });
  api.post(
    `${INBOUND}/subscriptions`,
    operation({
      id: "oneApiSubscribeToInbound",
      summary: "Have messages pushed that phones send to a number of yours",
      ...CHANGING,
      form: "lists",
      takes: schemas.InboundSubscriptionRequest,
      alsoTakes: [OTHER_CORRELATOR],
      makes: true,
      answer: schemas.Resource,
    }),
    async (request) => {
      const fields = bodyFields(request);
      const address = bareAddress(readField(fields, "destinationAddress", MAX_CRITERIA) ?? "");
      if (address === "") throw badField("destinationAddress", "is required");
      if (catalogue.current.ownerOf(address) !== accountOf(request).key)
        throw badField("destinationAddress", "is not a number of your account");
      const wish = { kind: "inbound", address, format: readFormat(fields), ...readWish(fields) } as const;
      return inboundResource(request, await change(request, { kind: "make", wish }));
    },
  );
  api.put(
    `${INBOUND}/subscriptions`,
    operation({
      id: "oneApiRedirectInbound",
      summary: "Have a subscription to messages from phones go to another URL",
      ...CHANGING,
      form: "lists",
      takes: schemas.InboundSubscriptionChange,
      makes: true,
      answer: schemas.Resource,
    }),
    async (request) => {
      const fields = bodyFields(request);
      const id = readField(fields, "subscriptionId", MAX_ID)?.split("/").at(-1);
      if (id === undefined) throw badField("subscriptionId", "is required");
      const notifyUrl = readNotifyUrl(fields);
      if (notifyUrl === undefined) throw badField("notifyURL", "is required");
      if (!ownOf(request, "inbound").some((each) => each.id === id)) throw unknown();
      return inboundResource(request, await change(request, { kind: "redirect", id, notifyUrl }));
    },
  );
  api.get(
    `${INBOUND}/subscriptions`,
    operation({
      id: "oneApiInboundSubscriptions",
      summary: "List your subscriptions to messages from phones",
      ...ONE_API,
      query: schemas.PageQuery,
      answer: schemas.InboundSubscriptions,
    }),
    async (request) => {
      const own = ownOf(request, "inbound");
      const page = readCount(request.query, "page", 1, Number.MAX_SAFE_INTEGER);
      const size = readCount(request.query, "pageSize", own.length, Number.MAX_SAFE_INTEGER);
      return { subscriptions: own.slice((page - 1) * size, page * size).map(inboundAnswer) };
    },
  );
  api.get(
    `${INBOUND}/subscriptions/:id`,
    operation({
      id: "oneApiInboundSubscription",
      summary: "Look at a subscription to messages from phones",
      ...ONE_API,
      answer: schemas.OneInboundSubscription,
    }),
    async (request) => ({ subscription: inboundAnswer(oneOf(request, "inbound")) }),
  );

  // One client deletes subscriptions of both kinds by either path, so an id is looked for in both.
  for (const [path, id, summary] of [
    [`${OUTBOUND}/subscriptions`, "oneApiUnsubscribeFromReports", "Delete a subscription"],
    [`${INBOUND}/subscriptions`, "oneApiUnsubscribeFromInbound", "Delete a subscription, under its other path"],
  ] as const) {
    const described = operation({ id, summary, ...CHANGING, form: true });
    const remove = async (request: FastifyRequest) => {
      await change(request, { kind: "remove", id: idIn(request) });
    };
    api.delete(`${path}/:id`, described, remove);
    for (const scheme of ["http", "https"])
      api.delete(`${path}/${scheme}:://*`, { ...described, schema: { hide: true } }, remove);
  }
}
