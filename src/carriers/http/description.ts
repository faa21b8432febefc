/**
 * How a provider's HTTP API is spoken, as data: what is sent, how an answer reads, and how receipts and messages from phones come. A preset is one such
 * description; a catalogue may have its own. Nothing in it is code: templates have places for values (template.ts), and answers are read by paths (paths.ts).
 */
import { oneOf, type Static, type TObject, type TSchema, Type } from "../../runtime/type.ts";
import type { JsonTemplate } from "./template.ts";

const strict = { additionalProperties: false };
const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const Template = Text(2_000);
/** Names separated by dots, `messages.0.id`; empty for the whole. */
const Path = Type.String({ maxLength: 200 });
/** One, or several of which the first counts that has something. */
const Paths = Type.Union([Path, Type.Array(Path, { minItems: 1, maxItems: 8 })]);
const Templates = Type.Record(Type.String(), Type.String({ maxLength: 2_000 }));
const Words = Type.Union([Text(200), Type.Array(Text(200), { minItems: 1, maxItems: 200 })]);
const Conditions = Type.Record(Type.String(), Words);
const Names = Type.Record(Type.String(), Text(64));
/** A table of templates: whatever is in it is for the provider to know. */
const Json = Type.Unsafe<JsonTemplate>({ type: "object", additionalProperties: true });

/** How we prove who we are, with every request. */
export const AuthDescription = Type.Object(
  {
    kind: oneOf(["basic", "bearer", "header", "query", "hmac", "oauth2"]),
    /** basic, and the client's id of oauth2. */
    username: Type.Optional(Template),
    /** The password, the token, the key, or the client's secret. */
    secret: Template,
    /** Of the header or of the parameter. */
    name: Type.Optional(Text(100)),
    /** hmac: over what, with the places {method}, {path}, {body} and {timestamp}; sha256 in hex unless said. */
    over: Type.Optional(Template),
    algorithm: Type.Optional(oneOf(["sha1", "sha256", "sha512"])),
    encoding: Type.Optional(oneOf(["hex", "base64"])),
    /** hmac: the header that has the time, in seconds. */
    timestampName: Type.Optional(Text(100)),
    /** oauth2: where tokens are had, by client credentials; a path of the carrier's URL, or a URL. */
    tokenUrl: Type.Optional(Text(500)),
    scope: Type.Optional(Text(500)),
  },
  strict,
);

const request = {
  method: Type.Optional(oneOf(["POST", "PUT", "GET"])),
  /** Behind the carrier's URL. */
  path: Type.String({ maxLength: 2_000 }),
  query: Type.Optional(Templates),
  headers: Type.Optional(Templates),
  /** The body: one of the two, or none. */
  form: Type.Optional(Templates),
  json: Type.Optional(Json),
  /** How an answer that is text reads: the first that fits, its places by their names, such as `Success "{id}"`. JSON and XML need none. */
  patterns: Type.Optional(Type.Array(Text(200), { minItems: 1, maxItems: 20 })),
};

/** What an answer means: the first rule that fits. Without one: 2xx is accepted, 401 and 403 a refused login, 429 and 503 later, other 5xx not now, and the rest refused. */
const AnswerRule = Type.Object(
  {
    /** "201", "2xx"; any unless given. */
    status: Type.Optional(Type.String({ pattern: "^[1-5]([0-9][0-9]|xx)$" })),
    where: Type.Optional(Conditions),
    /** later: nothing goes to it for a while. not now: this message alone is tried again. login refused: the carrier is down until its profile is right. */
    is: oneOf(["accepted", "later", "not now", "refused", "unknown", "login refused"]),
    /** An error of ours by name, of what is refused. */
    error: Type.Optional(Text(64)),
  },
  strict,
);
export type AnswerRule = Static<typeof AnswerRule>;

const answer = {
  rules: Type.Optional(Type.Array(AnswerRule, { maxItems: 200 })),
  /** The path of the provider's id, or of a list of them, one for each part. Left out: the id is our own key. */
  id: Type.Optional(Path),
  /** Its own code of an error, and what that means here by name. */
  code: Type.Optional(Path),
  errors: Type.Optional(Names),
};

const Send = Type.Object(
  {
    ...request,
    ...answer,
    /** A header of the answer that has these words where the provider will not call us back: people are told, and it is asked for these messages. */
    uncalled: Type.Optional(Type.Object({ header: Text(100), says: Text(200) }, strict)),
    /** Several messages in a call: the body has a list at `at`, and the answer one at `answers`, matched by our key at `key` or else by their order. */
    many: Type.Optional(
      Type.Object(
        {
          most: Type.Integer({ minimum: 2, maximum: 1_000 }),
          at: Path,
          item: Json,
          answers: Path,
          key: Type.Optional(Path),
        },
        strict,
      ),
    ),
  },
  strict,
);

/** How we know that a callback is the provider's, beside the secret in its address. */
const CallbackCheck = Type.Object(
  {
    kind: oneOf(["hmac", "basic", "header"]),
    /** The header that has the signature, or the word; for a parameter of the body or the query, "?name". */
    name: Type.Optional(Text(100)),
    secret: Template,
    username: Type.Optional(Template),
    algorithm: Type.Optional(oneOf(["md5", "sha1", "sha256", "sha512"])),
    encoding: Type.Optional(oneOf(["hex", "base64"])),
    /** What is signed: {url}, {body}, {fields} (names and values in order), {pairs} ("&name=value" in order), and {header:Name}. */
    over: Type.Optional(Type.String({ maxLength: 500 })),
  },
  strict,
);
export type CallbackCheck = Static<typeof CallbackCheck>;

/** Where it is said what a receipt is about, and what a phone wrote. */
const receiptPlaces = {
  id: Paths,
  phone: Type.Optional(Paths),
  network: Type.Optional(Paths),
  status: Paths,
  code: Type.Optional(Paths),
};
const incomingPlaces = { from: Paths, to: Paths, text: Paths };

const Poll = Type.Object(
  {
    ...request,
    everySeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
    /** A call for each message that waits for its receipt, with {id}; else one call for all. */
    each: Type.Optional(Type.Boolean()),
    /** So many messages in such a call: {id} has their ids with commas between, and {count} their number. Default 1. */
    most: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    /** Such calls in a second. Default 10. */
    perSecond: Type.Optional(Type.Number({ minimum: 0.1, maximum: 1_000 })),
    /** Where such an answer has what a callback has elsewhere: places and words that stand over those beside `poll`. */
    reads: Type.Optional(
      Type.Partial(Type.Object({ at: Path, where: Conditions, ...receiptPlaces, ...incomingPlaces }, strict)),
    ),
    /** Where the answer says what comes after it: a path or a URL, which is called next, or a value for {cursor}. */
    next: Type.Optional(Path),
  },
  strict,
);

const comes = {
  /** By a callback to us; which of its fields says it is in `where`. */
  callback: Type.Optional(Type.Boolean()),
  poll: Type.Optional(Poll),
  /** The path of the list; the whole is one of them unless given. */
  at: Type.Optional(Path),
  where: Type.Optional(Conditions),
};

const Receipts = Type.Object(
  {
    ...comes,
    ...receiptPlaces,
    /** The provider's word for a state, and what it is here. A word that is not named is read as held. */
    outcomes: Type.Record(Type.String(), oneOf(["held", "delivered", "undeliverable", "rejected", "expired", "lost"])),
    errors: Type.Optional(Names),
  },
  strict,
);

const Incoming = Type.Object(
  {
    ...comes,
    /** The provider's own id: a message that comes again under it is no second one. */
    id: Type.Optional(Paths),
    ...incomingPlaces,
    /** What stands for a number that the provider does not tell: templates with the carrier's values, and {id}, its own id. */
    defaults: Type.Optional(Type.Partial(Type.Object({ from: Template, to: Template }, strict))),
    /** Where the provider gives parts and not whole messages. */
    reference: Type.Optional(Paths),
    total: Type.Optional(Paths),
    sequence: Type.Optional(Paths),
    /** Where it gives octets: they are no text, unless the data coding is 8 (UCS-2). */
    octets: Type.Optional(
      Type.Object(
        {
          where: Type.Optional(Conditions),
          at: Paths,
          encoding: Type.Optional(oneOf(["hex", "base64"])),
          /** A user data header in hex, that is not among them. */
          header: Type.Optional(Paths),
          dataCoding: Type.Optional(Paths),
          /** Of which the bit 64 says that they begin with a header. */
          esmClass: Type.Optional(Paths),
        },
        strict,
      ),
    ),
  },
  strict,
);

const Reply = Type.Object(
  {
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 299 })),
    type: Text(100),
    body: Type.String({ maxLength: 1_000 }),
  },
  strict,
);

/** What is needed to speak with a provider; a profile's own fields stand over those of its preset. */
export const describing = {
  auth: Type.Optional(AuthDescription),
  send: Type.Optional(Send),
  /** For messages of octets; without it they are refused. */
  sendOctets: Type.Optional(Send),
  /** A request that costs nothing and that only the right login opens: the doctor makes it. */
  login: Type.Optional(Type.Object(request, strict)),
  /** Asked after an answer that never came; "refused" there means that the message never arrived. */
  lookup: Type.Optional(Type.Object({ ...request, ...answer }, strict)),
  receipts: Type.Optional(Receipts),
  incoming: Type.Optional(Incoming),
  check: Type.Optional(CallbackCheck),
  reply: Type.Optional(Reply),
  /** The least and the most that the provider takes of a value, such as validSeconds. */
  bounds: Type.Optional(Type.Record(Type.String(), Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }))),
  /** Who cuts a long text: the provider, or we. Default "provider". */
  cutBy: Type.Optional(oneOf(["provider", "us"])),
  /** Sending the same message again, with the same key, is not a second message. Default false. */
  repeatable: Type.Optional(Type.Boolean()),
} as const;

export const Description = Type.Object(describing, strict);

/** The same with nothing that must be there, at any depth: what a profile leaves out its preset may have. Both together are looked at as a whole (faults.ts). */
function loosened(schema: TSchema): TSchema {
  const { properties } = schema as Partial<TObject>;
  if (properties === undefined) return schema;
  const loose = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, loosened(each as TSchema)]));
  return Type.Partial(Type.Object(loose), strict);
}
export const overriding = (loosened(Description) as TObject).properties as typeof describing;

export type Description = Static<typeof Description>;
export type SendDescription = Static<typeof Send>;
export type RequestDescription = Pick<SendDescription, keyof typeof request>;
export type PollDescription = Static<typeof Poll>;
export type ReceiptsDescription = Static<typeof Receipts>;
export type IncomingDescription = Static<typeof Incoming>;
export type ReplyDescription = Static<typeof Reply>;
export type AuthDescription = Static<typeof AuthDescription>;
