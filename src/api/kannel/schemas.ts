/** Kannel's door as /docs and /openapi.json describe it. Nothing is checked by these: parameters are octets, and wrong ones have Kannel's answers. */
import { Type } from "../../runtime/type.ts";
import { operation } from "../operation.ts";
import { Text } from "../shapes.ts";
import { OTHER_NAMES } from "./parameters.ts";

const Count = (description: string, maximum: number) => Type.Integer({ description, minimum: 0, maximum });

const PARAMETERS = {
  username: Text("With password, in place of an Authorization header. Also: user."),
  password: Text("Also: pass."),
  from: Text("The sender; the account's default sender unless given."),
  to: Text("One or more numbers, separated by blanks."),
  text: Text("What the message says, in the charset, or octets with coding 1."),
  coding: Count("0 GSM, 1 octets, 2 UCS-2. Default 0, or 1 with a udh.", 2),
  charset: Text("Of the text. Default UTF-8, and UTF-16BE with coding 2."),
  udh: Text("A user data header, octet by octet."),
  mclass: Count("The message class; 0 is a flash message.", 3),
  mwi: Count("A message waiting indicator: 0 to 3 switch it on, 4 to 7 off.", 7),
  "alt-dcs": Count("1 writes the message class in the other group of data codings.", 1),
  rpi: Count("1 asks for the reply path.", 2),
  validity: Count("Minutes for which it may be sent.", 10_000_000),
  deferred: Count("Minutes after which it is sent.", 10_000_000),
  "dlr-mask": Count("Which reports are wanted, added up: 1 delivered, 2 failed, 4 buffered, 8 taken, 16 refused.", 63),
  "dlr-url": Text("Where reports are fetched, with escapes such as %d."),
  account: Text("Comes back as %o, and as campaignReferenceId in logs."),
  binfo: Text("Comes back as %B, and as callbackData in logs."),
  priority: Count("Is read and not used.", 3),
  smsc: Text("Is not used: routes are the operator's."),
  "meta-data": Text("Is not used."),
};

const { text: Said, ...BESIDE } = PARAMETERS;
const optional = (fields: typeof PARAMETERS) =>
  Type.Object({ ...Type.Partial(Type.Object(fields)).properties, to: fields.to, text: fields.text });

const plain = (description: string) => ({ description, content: { "text/plain": { schema: Type.String() } } });
const ANSWERS = {
  202: plain("0: Accepted for delivery, or 3: Queued for later delivery."),
  "4xx": plain("What is wrong, in Kannel's words."),
  "5xx": plain("Temporal failure, try again later."),
};

const described = {
  tag: "Sending",
  auth: "kannel",
  scope: "send",
  alsoTakes: [...OTHER_NAMES.keys()],
  answer: Said,
} as const;

/** The same with plain text in place of JSON, and nothing checked by a schema. */
function inPlainText<Options extends ReturnType<typeof operation>>(options: Options, schema: object) {
  return {
    ...options,
    config: { ...options.config, json: false, octets: true },
    validatorCompiler: () => () => true,
    schema: { ...options.schema, ...schema, response: ANSWERS },
  };
}

export const sendsmsByGet = inPlainText(
  operation({ ...described, id: "kannelSend", summary: "Send a text as by Kannel's sendsms, by a plain URL" }),
  { querystring: optional(PARAMETERS) },
);

export const sendsmsByPost = inPlainText(
  operation({
    ...described,
    id: "kannelPost",
    summary: "Send a text as by Kannel's sendsms, with a form or X-Kannel headers",
  }),
  {
    headers: Type.Object(
      Object.fromEntries(Object.entries(BESIDE).map(([name, schema]) => [`x-kannel-${name}`, Type.Optional(schema)])),
    ),
    body: {
      // The first is the one that the page fills in: a text, with the numbers in headers.
      content: {
        "text/plain": { schema: Said },
        "application/octet-stream": { schema: Said },
        "application/x-www-form-urlencoded": { schema: optional(PARAMETERS) },
      },
    },
  },
);
