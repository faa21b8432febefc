/** A line of the log for each message that is handed to a carrier, and for each receipt. They are many, so there are none unless the level is debug. */
import type { Carrier } from "../carriers/port.ts";
import type { AccountNames } from "../events/account-names.ts";
import type { QueuedMessage } from "../message/message.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Log } from "../runtime/log.ts";
import { findError } from "../sms/errors.ts";
import type { Verdict } from "./submitting.ts";

export class MessageLines {
  readonly #log: Log;
  readonly #names: AccountNames;

  constructor(log: Log, names: AccountNames) {
    this.#log = log;
    this.#names = names;
  }

  /** What a carrier answered to a message. */
  submitted(carrier: Carrier, { key, accountId }: QueuedMessage, verdict: Verdict): void {
    this.#names.tell(accountId, (account) =>
      this.#log.debug({ message: key, account, ...placeOf(carrier), ...factsOf(verdict) }, "a message was submitted"),
    );
  }

  receipt(carrier: Carrier, { carrierMessageId: id, outcome, errorId, mccMnc: network }: Receipt): void {
    this.#log.debug({ ...placeOf(carrier), id, outcome, ...errorOf(errorId), network }, "a receipt came");
  }
}

/** A carrier with its connections, where it has any. */
function placeOf(carrier: Carrier): { carrier: string; host?: string } {
  const bound = carrier.connections?.().links.filter(({ isBound }) => isBound) ?? [];
  const host = [...new Set(bound.map((link) => link.host))].join(", ");
  return host === "" ? { carrier: carrier.id } : { carrier: carrier.id, host };
}

function factsOf(verdict: Verdict): object {
  switch (verdict.kind) {
    case "submitted": {
      const ids = verdict.parts.map(({ carrierMessageId }) => carrierMessageId);
      return { outcome: "taken", ids, ...errorOf(verdict.refusedErrorId ?? 0), status: verdict.status };
    }
    case "again":
      return { outcome: "goes again", cause: verdict.cause, afterMs: verdict.afterMs, status: verdict.status };
    default:
      return { outcome: verdict.kind, ...errorOf(verdict.errorId), status: verdict.status };
  }
}

function errorOf(errorId: number): { error?: string } {
  return errorId === 0 ? {} : { error: findError(errorId)?.name ?? String(errorId) };
}
