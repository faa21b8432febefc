/**
 * The catalogue over the API: carriers, routes, rate plans, exchange rates and numbers, one item at a time. An item's body is what
 * stands in the catalogue file; a change that would leave the catalogue at odds with itself is refused, and says with what.
 */
import type { FastifyRequest } from "fastify";
import { deleteItem, itemNamed, listItems, putItem } from "../../admin/catalogue.ts";
import * as items from "../../admin/items.ts";
import { CARRIER_KINDS } from "../../catalogue/carrier-kinds.ts";
import { NAMED_BY, SHAPES } from "../../catalogue/file.ts";
import { type TProperties, type TSchema, Type } from "../../runtime/type.ts";
import type { CatalogueItem } from "../../store/port/catalogue.ts";
import { CARRIER_SECRETS, isCarrierSecret } from "../../store/port/secrets.ts";
import { badField } from "../errors.ts";
import { Mutex } from "../mutex.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { bodyFields } from "../parameters.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readLimit, readText } from "../query.ts";
import { Whole } from "../shapes.ts";
import {
  actorOf,
  named,
  neededVersion,
  OPERATOR,
  orCurrent,
  Page,
  pageOf,
  pageParameters,
  Version,
  VersionQuery,
  versioned,
  versionOf,
} from "./managing.ts";

interface Resource {
  readonly kind: items.ItemKind;
  readonly path: string;
  readonly one: string;
  readonly many: string;
}

const RESOURCES: readonly Resource[] = [
  { kind: "carrier", path: "/operator/1/carriers", one: "a carrier", many: "carriers" },
  { kind: "route", path: "/operator/1/routes", one: "a route", many: "routes" },
  { kind: "ratePlan", path: "/operator/1/rate-plans", one: "a rate plan", many: "rate plans" },
  { kind: "exchangeRate", path: "/operator/1/exchange-rates", one: "an exchange rate", many: "exchange rates" },
  { kind: "number", path: "/operator/1/numbers", one: "a number", many: "numbers" },
];

/** The shapes of a kind's items, as in the catalogue file. */
function shapesOf(kind: items.ItemKind): readonly { readonly properties: TProperties }[] {
  return kind === "carrier" ? Object.values(CARRIER_KINDS).map(({ schema }) => schema) : [SHAPES[kind]];
}

/** A path cannot end in nothing, so the route of every number has a name there. */
const DEFAULT_ROUTE = "default";
/** `title` is its name in the description. */
function oneOf(title: string, schemas: readonly TSchema[]): TSchema {
  return schemas.length === 1 ? { ...schemas[0]!, title } : Type.Union([...schemas], { title });
}

/** "ratePlan" → "RatePlan", as in the ids of the operations. */
function nameOf({ kind }: Resource): string {
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
}

/** What is in the path need not be in the body, and neither a secret that stays as it is. */
function bodyOf(resource: Resource): TSchema {
  const { kind } = resource;
  const optional = new Set<string>([...NAMED_BY[kind], ...CARRIER_SECRETS]);
  const description = kind === "carrier" ? "A secret that is left out stays as it was." : "As in the catalogue file.";
  return oneOf(
    `${nameOf(resource)}Settings`,
    shapesOf(kind).map(({ properties }) =>
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

function answerOf(resource: Resource): TSchema {
  return oneOf(
    nameOf(resource),
    shapesOf(resource.kind).map(({ properties }) =>
      Type.Object({
        ...Object.fromEntries(Object.entries(properties).filter(([name]) => !isCarrierSecret(name))),
        version: Whole("Grows with every change."),
      }),
    ),
  );
}

function shown(item: CatalogueItem): Record<string, unknown> & { version: number } {
  const shown = Object.entries(items.fieldsOf(item)).filter(([name]) => !isCarrierSecret(name));
  return { ...Object.fromEntries(shown), version: item.version ?? 1 };
}

/** What the path says of the item. */
function fieldsInPath({ kind }: Resource, request: FastifyRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    NAMED_BY[kind].map((name) => {
      const value = named(request, name);
      return [name, kind === "route" && value === DEFAULT_ROUTE ? "" : value];
    }),
  );
}

/** The item that the path names. */
function itemIn(resource: Resource, request: FastifyRequest): items.ItemName {
  return { kind: resource.kind, id: Object.values(fieldsInPath(resource, request)).join("/") };
}

export function catalogueOperations(api: Api, parts: ApiParts): void {
  const { store, clock } = parts;
  // What is looked at before a change must still be so when it is made. And each look is at the whole catalogue, which may be megabytes.
  const mutex = new Mutex();
  const inTurn = <Result>(request: FastifyRequest, work: () => Promise<Result>): Promise<Result> =>
    mutex.search(accountOf(request).id, (take) => take(work));

  /** The item that the request would write, whole. */
  function wanted(resource: Resource, request: FastifyRequest) {
    const { version, ...body } = bodyFields(request);
    const inPath = fieldsInPath(resource, request);
    for (const [name, value] of Object.entries(inPath)) {
      if (body[name] !== undefined && body[name] !== value) throw badField(name, "is another one than in the path");
    }
    return { fields: { ...inPath, ...body }, version: versionOf(request, version) ?? 0 };
  }

  for (const resource of RESOURCES) {
    const { kind, path, one, many } = resource;
    const name = nameOf(resource);
    const onePath = [path, ...NAMED_BY[kind].map((name) => `:${name}`)].join("/");
    const answer = answerOf(resource);

    api.get(
      path,
      operation({
        ...OPERATOR,
        id: `list${name}s`,
        summary: `List ${many}`,
        query: Type.Object(pageParameters),
        answer: Page(answer),
      }),
      (request) =>
        inTurn(request, async () => {
          const limit = readLimit(request.query);
          const after = readText(fieldsOf(request.query), "after");
          const last = kind === "route" && after === DEFAULT_ROUTE ? "" : after;
          const rest = (await listItems(store, kind)).filter(({ id }) => last === null || id > last);
          return pageOf(rest, limit, ({ id }) => (id === "" ? DEFAULT_ROUTE : id), shown);
        }),
    );

    api.get(onePath, operation({ ...OPERATOR, id: `get${name}`, summary: `See ${one}`, answer }), (request, reply) =>
      inTurn(request, async () => versioned(reply, shown(await itemNamed(store, itemIn(resource, request))))),
    );

    api.put(
      onePath,
      {
        ...operation({
          ...OPERATOR,
          id: `set${name}`,
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
          const change = { ...itemIn(resource, request), ...wanted(resource, request), mayNameFiles: false };
          const by = { by: actorOf(request), atMs: clock.now() };
          return versioned(reply, shown(await orCurrent(shown, putItem(store, { ...change, ...by }))));
        }),
    );

    api.delete(
      onePath,
      operation({ ...OPERATOR, id: `delete${name}`, summary: `Delete ${one}`, query: VersionQuery }),
      (request) =>
        inTurn(request, async () => {
          const version = neededVersion(request, fieldsOf(request.query).version) ?? "any";
          const by = { by: actorOf(request), atMs: clock.now() };
          await orCurrent(shown, deleteItem(store, { ...itemIn(resource, request), version, ...by }));
        }),
    );
  }
}
