/** The profile of a carrier over HTTP: which provider, as whom, and how fast. How the provider is spoken to comes from its preset, or stands here too. */
import { oneOf, type Static, Type } from "../../runtime/type.ts";
import { overriding } from "./description.ts";

/** Of companies, and of what one runs oneself. */
const HOSTED = ["twilio", "vonage", "sinch", "plivo", "telnyx", "bandwidth"] as const;
const OWN = ["heliograph", "android", "kannel", "jasmin", "webhook"] as const;
export const PRESETS = [...HOSTED, ...OWN] as const;
export type PresetName = (typeof PRESETS)[number];

/** Anything but the word that stands for a secret that is kept (KEEP in admin/items.ts). */
const Secret = Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, pattern: "^(?!\\(unchanged\\)$)" }));
/** Without a name and a password: secrets have fields of their own, and are sealed there. */
const Url = Type.String({ maxLength: 2_000, pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$" });

export const HttpCarrierProfile = Type.Object(
  {
    id: Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }),
    kind: Type.Literal("http"),
    /** The rate plan that has what the provider asks for a part; no plan unless given, and then it is not compared. */
    ratePlan: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" })),
    /** The provider's API as it is known here. Without one `send` says how to speak to it. */
    preset: Type.Optional(oneOf(PRESETS)),
    /** Where the API is; presets of providers with one address know it. */
    url: Type.Optional(Url),
    /** As whom: what the provider calls the account, and its secrets. Templates have them as {username}, {password}, {apiKey}, {callbackSecret}. */
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    password: Secret,
    apiKey: Secret,
    /** What the provider signs its callbacks with, where that is none of these. */
    callbackSecret: Secret,
    /** Another value for templates, such as the SIM of a phone or a messaging service: {option}. */
    option: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    /** Requests under way at a time. Default 10. */
    window: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    /** Messages a second; no limit unless the preset has one. */
    partsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100_000 })),
    /** How long an answer may take. Default 30. */
    answerSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
    /** How often a provider that cannot call us is asked; the preset says unless given. */
    pollSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
    /** A message whose answer never came: send it again, at most three times, or wait for a receipt. "resend" where a repeat is no second message, else "hold". */
    unknownOutcome: Type.Optional(oneOf(["resend", "hold"])),
    /** An HTTP proxy that the requests go through. */
    proxy: Type.Optional(Url),
    /** Certificate authorities in PEM, in place of the system's. */
    tlsCaPem: Type.Optional(Type.String({ maxLength: 65_536, pattern: "^\\s*-----BEGIN [A-Z ]*CERTIFICATE-----" })),
    /** Networks that callbacks may come from; any unless given. */
    callbackNetworks: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 })),
    ...overriding,
  },
  { additionalProperties: false },
);

export type HttpProfile = Static<typeof HttpCarrierProfile>;
