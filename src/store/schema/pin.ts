/** PINs: applications with their rules, templates with their texts, and what was sent. No PIN is stored: it is worked out of its application's secret. */
import type { KeptFields, PinConfiguration } from "../../pins/commands.ts";
import type { PinType } from "../../pins/pin.ts";
import { flag, int, json, long, oneOf, type Row, Table, text } from "./table.ts";

export const PIN_APPLICATION = new Table("pin_application", ["id"], {
  id: text(),
  accountId: long(),
  name: text(),
  enabled: flag(),
  /** What it does not name is by default. */
  configuration: json<Partial<PinConfiguration>>()(),
  secret: text(),
  createdAtMs: long(),
});

export const PIN_TEMPLATE = new Table("pin_template", ["id"], {
  id: text(),
  applicationId: text(),
  text: text({ column: "body" }),
  pinType: oneOf<PinType>()(),
  pinLength: int(),
  senderId: text({ column: "sender", null: true }),
  kept: json<KeptFields>()(),
  createdAtMs: long(),
});

export const PIN = new Table("pin", ["id"], {
  id: text(),
  applicationId: text(),
  templateId: text(),
  to: text({ column: "number" }),
  pinType: oneOf<PinType>()(),
  pinLength: int(),
  sender: text({ null: true }),
  placeholders: json<Readonly<Record<string, string>>>()(),
  /** How often it was looked at. */
  attempts: int({ default: 0, later: true }),
  createdAtMs: long(),
  sentAtMs: long({ null: true }),
  expiresAtMs: long(),
  verifiedAtMs: long({ null: true, later: true }),
});

export type PinApplicationRow = Row<typeof PIN_APPLICATION>;
export type PinRow = Row<typeof PIN>;
