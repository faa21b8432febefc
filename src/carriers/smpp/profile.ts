/** The profile of an SMPP carrier: everything in which carriers differ, as data. Each field with what it means and its default. */
import { patternOf } from "../../runtime/schema-faults.ts";
import { oneOf, type Static, Type } from "../../runtime/type.ts";
import { MISSING_LETTERS, NAME_ALPHABETS, TEXT_ALPHABETS } from "../../sms/writing.ts";

/** What fits a C-octet string: an octet a character, and none of them 0. */
const OctetString = (maxLength: number) => Type.String({ maxLength, pattern: "^[\\x01-\\xff]*$" });
export const OCTETS_PATTERN = patternOf(OctetString(1));
const Certificate = Type.String({ maxLength: 65_536, pattern: "^\\s*-----BEGIN [A-Z ]*CERTIFICATE-----" });
export const PEM_PATTERN = patternOf(Certificate);
const Seconds = (longest: number) => Type.Integer({ minimum: 1, maximum: longest });
/** Type of number and numbering plan, as SMPP 3.4 §5.2.5 and §5.2.6 number them. */
const AddressType = Type.Object(
  { ton: Type.Integer({ minimum: 0, maximum: 6 }), npi: Type.Integer({ minimum: 0, maximum: 18 }) },
  { additionalProperties: false },
);

/** Optional parameters with tags of this range are the carriers' own (SMPP 3.4 §5.3.1). */
export const VENDOR_TAGS = { first: 0x1400, last: 0x3fff } as const;
const Tag = Type.Optional(Type.Integer({ minimum: VENDOR_TAGS.first, maximum: VENDOR_TAGS.last }));
const RegionalTags = Type.Object(
  {
    principalEntityId: Tag,
    contentTemplateId: Tag,
    telemarketerId: Tag,
    recipientType: Tag,
    brandCode: Tag,
    resellerCode: Tag,
    title: Tag,
  },
  { additionalProperties: false },
);
export type RegionalField = keyof Static<typeof RegionalTags>;

export const SmppCarrierProfile = Type.Object(
  {
    id: Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }),
    kind: Type.Literal("smpp"),
    /** The rate plan that has what the carrier asks for a part; no plan unless given, and then it is not compared. */
    ratePlan: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" })),
    /** "host:port", in the order in which they are tried. */
    hosts: Type.Array(Type.String({ maxLength: 300, pattern: "^(\\[[0-9a-fA-F:.]+\\]|[^\\s:]+):[0-9]{1,5}$" }), {
      minItems: 1,
      maxItems: 16,
    }),
    systemId: OctetString(15),
    password: OctetString(8),
    systemType: Type.Optional(OctetString(12)),
    /** One connection for both ways, or one for each. Default "transceiver". */
    bind: Type.Optional(oneOf(["transceiver", "transmitter and receiver"])),
    /** Connections at a time. Default 1. */
    binds: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    /** Unanswered submits on one connection. Default 10. */
    window: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    /** Parts a second over all connections; no limit unless given. */
    partsPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    /** Speak TLS. The carrier's certificate is checked against `tlsCaPem` or `tlsCa`, or against the system's authorities. Default false. */
    tls: Type.Optional(Type.Boolean()),
    /** A file with the certificate authority of the carrier, in PEM. Only the command line may name one. */
    tlsCa: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
    /** The certificate authority itself, in PEM. */
    tlsCaPem: Type.Optional(Certificate),
    /** The name in the carrier's certificate, where it is not the host's. */
    tlsName: Type.Optional(Type.String({ maxLength: 255 })),
    /** How senders and recipients are marked. Defaults: international 1/1, short codes 3/0, names 5/0. */
    destinationType: Type.Optional(AddressType),
    internationalType: Type.Optional(AddressType),
    shortCodeType: Type.Optional(AddressType),
    nameType: Type.Optional(AddressType),
    /** What the carrier takes data_coding 0 for. Default "gsm", one septet an octet. */
    alphabet: Type.Optional(oneOf(TEXT_ALPHABETS)),
    /** What becomes of a GSM text with letters that this alphabet lacks: written with those that it has, or in UCS-2. Default "transliterate". */
    missingLetters: Type.Optional(oneOf(MISSING_LETTERS)),
    /** What the octets of a sender's name are. A name that cannot be written so does not go over this carrier. Default "latin1". */
    nameAlphabet: Type.Optional(oneOf(NAME_ALPHABETS)),
    /** What the carrier writes under data_coding 1 (IA5): ASCII, or the GSM alphabet, one septet an octet. Default "ascii". */
    ia5: Type.Optional(oneOf(["ascii", "gsm"])),
    /** How long messages are sent: with a header in each part, with sar_ parameters, or whole in message_payload. Default "udh". */
    longMessages: Type.Optional(oneOf(["udh", "sar", "payload"])),
    /**
     * Bits of the reference in such a header. With 16 a part holds a character less, so a text that would need a part more by it gets
     * the header with 8 all the same. sar_ parameters have always 16. Default 8.
     */
    referenceBits: Type.Optional(Type.Unsafe<8 | 16>({ type: "integer", enum: [8, 16] })),
    /** The id is hexadecimal in the answer and decimal in the receipt, or the reverse. Default "same". */
    receiptIds: Type.Optional(oneOf(["same", "hex then decimal", "decimal then hex"])),
    /**
     * Receipts come without their mark (esm_class, or receipted_message_id with message_state): a text that looks like one is taken for
     * one if it names a part of the phone that it comes from. Default false: any phone can write such a text.
     */
    unmarkedReceipts: Type.Optional(Type.Boolean()),
    /** The addresses of a receipt: those of its message, in any order, or the carrier's own, which say nothing. Default "message". */
    receiptAddresses: Type.Optional(oneOf(["message", "carrier"])),
    /** Which parts of a long message get a receipt that counts. Default "every". */
    partRule: Type.Optional(oneOf(["every", "first", "last"])),
    /** A submit whose answer never came: send it again, at most three times, or wait for a receipt. Default "resend". */
    unknownOutcome: Type.Optional(oneOf(["resend", "hold"])),
    /** service_type of every submit. */
    serviceType: Type.Optional(OctetString(5)),
    /** The tags of the optional parameters in which this carrier takes regional fields of a message. It gets those that are named here. */
    tlvs: Type.Optional(RegionalTags),
    /** How the values of these end: with their last octet, or with a NUL as a C-octet string does. Default "octets". */
    tlvStrings: Type.Optional(oneOf(["octets", "c-octets"])),
    /** After so long without a word the connection is tried with enquire_link. Default 30. */
    enquireLinkSeconds: Type.Optional(Seconds(3_600)),
    /** How long the answer to that may take, before the connection is given up. Any octet counts as one. Default 10. */
    enquireLinkAnswerSeconds: Type.Optional(Seconds(600)),
    /** How long the answer to a submit may take. Default 30. */
    answerSeconds: Type.Optional(Seconds(600)),
    /** How long the answer to a bind may take. Default 10. */
    bindSeconds: Type.Optional(Seconds(600)),
    /** The longest wait before a lost connection is tried again; in the first ten minutes it is two seconds at most, unless the bind was refused (retry-wait.ts). Default 60. */
    reconnectSeconds: Type.Optional(Seconds(3_600)),
  },
  { additionalProperties: false },
);

export type SmppProfile = Static<typeof SmppCarrierProfile>;

/** A tag that two fields have, so that the carrier could not tell them apart; or null. */
export function tagOfTwo({ tlvs = {} }: SmppProfile): number | null {
  const tags = Object.values(tlvs);
  return tags.find((tag, index) => tags.indexOf(tag) < index) ?? null;
}

/** What decides how a text and its sender are written for the carrier. */
export type Writing = Pick<SmppProfile, "alphabet" | "missingLetters" | "nameAlphabet">;
