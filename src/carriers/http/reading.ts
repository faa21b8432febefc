/** Receipts and messages from phones, as a provider tells them in a callback or in an answer to a poll. Pure; what cannot be read is left out. */
import type { IncomingPart } from "../../message/incoming.ts";
import type { Receipt } from "../../message/receipt.ts";
import { plainPhone } from "../../sms/addresses.ts";
import { isUsableId } from "../usable-id.ts";
import { errorIdOf, errorName } from "./answer.ts";
import type { IncomingDescription, ReceiptsDescription } from "./description.ts";
import { fulfils, listAt, textAt } from "./paths.ts";

/** Things in one callback or one answer that are looked at. */
const MAX_ITEMS = 10_000;
const MAX_TEXT = 10_000;
const MAX_ADDRESS = 32;
const FAILED = new Set(["undeliverable", "rejected", "expired", "lost"]);

function itemsOf({ at, where }: Pick<ReceiptsDescription, "at" | "where">, data: unknown): readonly unknown[] {
  return listAt(data, at)
    .slice(0, MAX_ITEMS)
    .filter((item) => fulfils(item, where));
}

export function readReceipts(description: ReceiptsDescription, data: unknown, nowMs: number): Receipt[] {
  const { outcomes, errors = {} } = description;
  return itemsOf(description, data).flatMap((item) => {
    const id = textAt(item, description.id);
    const word = textAt(item, description.status);
    if (id === undefined || !isUsableId(id) || word === undefined) return [];
    const outcome = Object.hasOwn(outcomes, word) ? outcomes[word]! : "held";
    const code = textAt(item, description.code);
    const phone = textAt(item, description.phone);
    const network = textAt(item, description.network);
    return [
      {
        carrierMessageId: id,
        outcome,
        errorId: FAILED.has(outcome) ? errorIdOf(errorName(errors, code)) : 0,
        atMs: nowMs,
        mccMnc: network !== undefined && /^\d{5,6}$/.test(network) ? network : null,
        to: phone === undefined || phone.length > MAX_ADDRESS ? null : plainPhone(phone),
      },
    ];
  });
}

export function readIncoming(description: IncomingDescription, data: unknown, nowMs: number): IncomingPart[] {
  return itemsOf(description, data).flatMap((item) => {
    const from = textAt(item, description.from);
    const to = textAt(item, description.to);
    if (from === undefined || to === undefined || from.length > MAX_ADDRESS || to.length > MAX_ADDRESS) return [];
    const [reference, total, sequence] = [description.reference, description.total, description.sequence].map((path) =>
      Number(textAt(item, path)),
    ) as [number, number, number];
    const isPart = [reference, total, sequence].every(Number.isSafeInteger) && total > 1 && total < 256;
    return [
      {
        from: plainPhone(from),
        to: plainPhone(to),
        text: (textAt(item, description.text) ?? "").slice(0, MAX_TEXT).toWellFormed(),
        concatenation: isPart ? { reference: reference & 0xffff, total, sequence } : null,
        atMs: nowMs,
      },
    ];
  });
}
