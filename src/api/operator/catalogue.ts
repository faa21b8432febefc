/**
 * The catalogue over the API: carriers, routes, rate plans, exchange rates and numbers, one item at a time. An item's body is what
 * stands in the catalogue file; a change that would leave the catalogue at odds with itself is refused, and says with what.
 */
import type { FastifyRequest } from "fastify";
import { type TProperties, type TSchema, Type } from "typebox";
import {
  CatalogueFault,
  ExchangeRate,
  groupsOf,
  IncomingNumber,
  RatePlan,
  Route,
  readItem,
  SimulatorCarrier,
  SmppCarrier,
} from "../../catalogue/file.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { CatalogueItem, ManagedAccount, Store } from "../../store/port.ts";
import { ApiError, badField } from "../errors.ts";
import { Mutex } from "../mutex.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { bodyFields } from "../parameters.ts";
import { fieldsOf, readLimit, readText } from "../query.ts";
import {
  actorOf,
  named,
  neededVersion,
  OPERATOR,
  outdated,
  Page,
  pageOf,
  pageParameters,
  Version,
  VersionQuery,
  versioned,
  versionOf,
} from "./managing.ts";

export interface CatalogueParts {
  readonly store: Pick<Store, "catalogue" | "putItem" | "deleteItem" | "account" | "accounts">;
  readonly clock: Clock;
}

type Kind = CatalogueItem["kind"];
type Fields = Record<string, unknown>;

interface Resource {
  readonly kind: Kind;
  readonly path: string;
  /** The names that stand in the path of one item. */
  readonly names: readonly string[];
  readonly one: string;
  readonly many: string;
  /** The items' shapes, as in the catalogue file. */
  readonly shapes: readonly { readonly properties: TProperties }[];
}

const RESOURCES: readonly Resource[] = [
  {
    kind: "carrier",
    path: "/operator/1/carriers",
    names: ["id"],
    one: "a carrier",
    many: "carriers",
    shapes: [SmppCarrier, SimulatorCarrier],
  },
  { kind: "route", path: "/operator/1/routes", names: ["prefix"], one: "a route", many: "routes", shapes: [Route] },
  {
    kind: "ratePlan",
    path: "/operator/1/rate-plans",
    names: ["id"],
    one: "a rate plan",
    many: "rate plans",
    shapes: [RatePlan],
  },
  {
    kind: "exchangeRate",
    path: "/operator/1/exchange-rates",
    names: ["from", "to"],
    one: "an exchange rate",
    many: "exchange rates",
    shapes: [ExchangeRate],
  },
  {
    kind: "number",
    path: "/operator/1/numbers",
    names: ["number"],
    one: "a number",
    many: "numbers",
    shapes: [IncomingNumber],
  },
];

/** A path cannot end in nothing, so the route of every number has a name there. */
const DEFAULT_ROUTE = "default";
/** Written and never shown. */
const SECRET = "password";
/** Names a file of this machine. */
const FILE = "tlsCa";
/** Accounts looked at in one command: other commands wait for it. */
const PAGE_ACCOUNTS = 200;

function oneOf(schemas: readonly TSchema[]): TSchema {
  return schemas.length === 1 ? schemas[0]! : Type.Union([...schemas]);
}

/** What is in the path need not be in the body, and neither a password that stays as it is. */
function bodyOf({ shapes, names, kind }: Resource): TSchema {
  const optional = new Set([...names, SECRET]);
  const description = kind === "carrier" ? "A password that is left out stays as it was." : "As in the catalogue file.";
  return oneOf(
    shapes.map(({ properties }) =>
      Type.Object(
        {
          ...Object.fromEntries(
            Object.entries(properties).map(([name, schema]) => [
              name,
              optional.has(name) ? Type.Optional(schema) : schema,
            ]),
          ),
          version: Type.Optional(Version),
        },
        { description },
      ),
    ),
  );
}

function answerOf({ shapes }: Resource): TSchema {
  return oneOf(
    shapes.map(({ properties: { [SECRET]: _, ...properties } }) =>
      Type.Object({ ...properties, version: Type.Integer({ description: "Grows with every change." }) }),
    ),
  );
}

function shown({ body, version = 1 }: CatalogueItem): Fields & { version: number } {
  const { [SECRET]: _, ...rest } = JSON.parse(body) as Fields;
  return { ...rest, version };
}

/** What the path says of the item. */
function fieldsInPath({ names, kind }: Resource, request: FastifyRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => {
      const value = named(request, name);
      return [name, kind === "route" && value === DEFAULT_ROUTE ? "" : value];
    }),
  );
}

const unknown = ({ one }: Resource) =>
  new ApiError("notFound", { description: `There is no such ${one.split(" ").slice(1).join(" ")}.` });
const refused = (description: string) => new ApiError("conflict", { description });

export function catalogueOperations(api: Api, parts: CatalogueParts): void {
  const { store, clock } = parts;
  // What is looked at before a change must still be so when it is made. And each look is at the whole catalogue, which may be megabytes.
  const mutex = new Mutex();
  const inTurn = <Result>(request: FastifyRequest, work: () => Promise<Result>): Promise<Result> =>
    mutex.search(accountOf(request).id, (take) => take(work));

  const itemsOf = async (kind: Kind): Promise<CatalogueItem[]> =>
    (await store.catalogue()).filter((item) => item.kind === kind);
  const find = async (kind: Kind, id: string): Promise<CatalogueItem | null> =>
    (await itemsOf(kind)).find((item) => item.id === id) ?? null;

  /** An account that pays by this plan, if there is one. */
  async function payerOf(ratePlanId: string): Promise<ManagedAccount | null> {
    for (let afterKey: string | null = null; ; ) {
      const page: ManagedAccount[] = await store.accounts({
        resellerId: null,
        kind: null,
        suspended: null,
        afterKey,
        limit: PAGE_ACCOUNTS,
      });
      const payer = page.find((account) => account.ratePlanId === ratePlanId && account.retiredAtMs === null);
      if (payer !== undefined) return payer;
      if (page.length < PAGE_ACCOUNTS) return null;
      afterKey = page.at(-1)!.key;
    }
  }

  /** Whether what it says of other things is so. */
  async function checkReferences({ kind, id, body }: CatalogueItem, before: CatalogueItem | null): Promise<void> {
    if (kind === "route") {
      const carriers = new Set((await itemsOf("carrier")).map((carrier) => carrier.id));
      const route = JSON.parse(body) as Route;
      const missing = groupsOf(route)
        .flat()
        .find(({ carrier }) => !carriers.has(carrier));
      const field = route.groups === undefined ? "carrier" : "groups";
      if (missing !== undefined) throw badField(field, `names carrier "${missing.carrier}", which is not there`);
    }
    if (kind === "number") {
      const { account } = JSON.parse(body) as IncomingNumber;
      const owner = await store.account({ resellerId: null, key: account });
      if (owner === null || owner.retiredAtMs !== null) throw badField("account", `names no account: "${account}"`);
    }
    if (kind === "ratePlan" && before !== null) {
      const [was, is] = [before.body, body].map((text) => (JSON.parse(text) as RatePlan).currency);
      const payer = was === is ? null : await payerOf(id);
      if (payer !== null) throw refused(`Rate plan "${id}" is paid in ${was} by account ${payer.key}.`);
    }
  }

  /** Whether nothing else says that it is there. */
  async function checkUnused({ kind, id }: CatalogueItem): Promise<void> {
    if (kind === "carrier") {
      const routes = (await itemsOf("route")).map(({ body }) => JSON.parse(body) as Route);
      const user = routes.find((route) =>
        groupsOf(route)
          .flat()
          .some(({ carrier }) => carrier === id),
      );
      if (user !== undefined) throw refused(`Route "${user.prefix}" goes to carrier "${id}".`);
    }
    const payer = kind === "ratePlan" ? await payerOf(id) : null;
    if (payer !== null) throw refused(`Account ${payer.key} pays by rate plan "${id}".`);
  }

  /** The item that the request would write, whole, with the version over which it is written. */
  async function wanted(resource: Resource, request: FastifyRequest) {
    const { version: given, ...body } = bodyFields(request);
    const inPath = fieldsInPath(resource, request);
    for (const [name, value] of Object.entries(inPath)) {
      if (body[name] !== undefined && body[name] !== value) throw badField(name, "is another one than in the path");
    }
    const before = await find(resource.kind, Object.values(inPath).join("/"));
    const known = before === null ? {} : (JSON.parse(before.body) as Fields);
    const kept = known[SECRET];
    // Whoever could name files here could have the service open any of this machine.
    if (resource.kind === "carrier" && body[FILE] !== undefined && body[FILE] !== known[FILE])
      throw badField(
        FILE,
        `names a file, which only the command line may do ("heliograph carrier set"); give the certificate itself in tlsCaPem`,
      );
    const keeps =
      resource.kind === "carrier" && body.kind === "smpp" && body[SECRET] === undefined && kept !== undefined;
    const version = versionOf(request, given);
    return {
      before,
      item: checked(resource.kind, { ...inPath, ...body, ...(keeps ? { [SECRET]: kept } : {}) }),
      version: version === "any" ? (before?.version ?? 0) : (version ?? 0),
    };
  }

  function checked(kind: Kind, item: Fields): CatalogueItem {
    try {
      return readItem(kind, item);
    } catch (error) {
      if (!(error instanceof CatalogueFault)) throw error;
      const { field, message } = error;
      const description = message.endsWith(".") ? message : `${message}.`;
      throw new ApiError("badRequest", { ...(field === null ? {} : { variables: [field] }), description });
    }
  }

  for (const resource of RESOURCES) {
    const { kind, path, names, one, many } = resource;
    const onePath = [path, ...names.map((name) => `:${name}`)].join("/");
    const answer = answerOf(resource);

    api.get(
      path,
      operation({ ...OPERATOR, summary: `List ${many}`, query: Type.Object(pageParameters), answer: Page(answer) }),
      (request) =>
        inTurn(request, async () => {
          const limit = readLimit(request.query);
          const after = readText(fieldsOf(request.query), "after");
          const last = kind === "route" && after === DEFAULT_ROUTE ? "" : after;
          const items = (await itemsOf(kind)).filter(({ id }) => last === null || id > last);
          // By code units on every engine: a database may have an order of its own.
          items.sort((first, second) => (first.id < second.id ? -1 : 1));
          return pageOf(items, limit, ({ id }) => (id === "" ? DEFAULT_ROUTE : id), shown);
        }),
    );

    api.get(onePath, operation({ ...OPERATOR, summary: `See ${one}`, answer }), (request, reply) =>
      inTurn(request, async () => {
        const item = await find(kind, Object.values(fieldsInPath(resource, request)).join("/"));
        if (item === null) throw unknown(resource);
        return versioned(reply, shown(item));
      }),
    );

    api.put(
      onePath,
      {
        ...operation({
          ...OPERATOR,
          summary: `Set ${one}`,
          bodyOctets: "large",
          schema: { body: bodyOf(resource) },
          answer,
        }),
        // The catalogue's own words for what is wrong are about the kind of item that was meant, not about all that there are.
        validatorCompiler: () => () => true,
      },
      (request, reply) =>
        inTurn(request, async () => {
          const { item, before, version } = await wanted(resource, request);
          if (version !== (before?.version ?? 0)) throw outdated(before === null ? null : shown(before));
          await checkReferences(item, before);
          const written = await store.putItem({ ...item, version, by: actorOf(request), atMs: clock.now() });
          if (written.kind === "outdated") {
            const current = await find(kind, item.id);
            throw outdated(current === null ? null : shown(current));
          }
          return versioned(reply, shown({ ...item, version: written.version }));
        }),
    );

    api.delete(onePath, operation({ ...OPERATOR, summary: `Delete ${one}`, query: VersionQuery }), (request, reply) =>
      inTurn(request, async () => {
        const version = neededVersion(request, fieldsOf(request.query).version);
        const item = await find(kind, Object.values(fieldsInPath(resource, request)).join("/"));
        if (item === null) throw unknown(resource);
        if (version !== null && version !== item.version) throw outdated(shown(item));
        await checkUnused(item);
        const by = { by: actorOf(request), atMs: clock.now() };
        const deleted = await store.deleteItem({ kind, id: item.id, version, ...by });
        if (deleted === "unknown") throw unknown(resource);
        if (deleted === "outdated") {
          const current = await find(kind, item.id);
          throw outdated(current === null ? null : shown(current));
        }
        return reply.code(204).send();
      }),
    );
  }
}
