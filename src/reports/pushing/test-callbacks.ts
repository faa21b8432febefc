/**
 * A test callback: a report of a message that never was goes to a client's URL, signed with the account's own secrets, by the same rules and the same
 * code as reports do. It goes once, and its answer is for the one who asked: nothing of it is stored.
 */
import { type AnswerHeaders, HttpTransport } from "../../http/transport.ts";
import type { CallbackPolicy } from "../../message/callback.ts";
import { carriedOf } from "../../message/fields.ts";
import type { DeliveryBatch } from "../../message/message.ts";
import type { NotifyContentType } from "../../message/report-form.ts";
import type { Clock } from "../../runtime/clock.ts";
import { publicId } from "../../runtime/random.ts";
import type { Settings } from "../../settings/settings.ts";
import { STATUS } from "../../sms/statuses.ts";
import { pushRules } from "./push-settings.ts";
import { readTarget, requestFor, signingKey } from "./report-request.ts";

export interface TestCallbackParts {
  readonly store: { callbackPolicy(input: { accountId: number }): Promise<CallbackPolicy> };
  readonly clock: Clock;
  readonly settings: Settings["reports"];
  readonly sandbox: boolean;
}

export interface TestOrder {
  readonly accountId: number;
  readonly url: string;
  readonly contentType: NotifyContentType;
  readonly currency: string;
}

export interface TestOutcome {
  /** The name and the password that the URL may have are not told again. */
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
  /** Null where there was none; `reason` says why. */
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  } | null;
  readonly reason: string | null;
  readonly durationMs: number;
}

const BODY_BYTES = 1_000;
const MAX_HEADERS = 30;
const MAX_HEADER_LENGTH = 200;

export class TestCallbacks {
  readonly #parts: TestCallbackParts;
  readonly #transport: HttpTransport;

  constructor(parts: TestCallbackParts) {
    const { clock, settings, sandbox } = parts;
    const rules = pushRules(settings, sandbox);
    this.#parts = parts;
    const { policy } = rules;
    this.#transport = new HttpTransport({ clock, policy, settings: { ...rules.settings, excerptBytes: BODY_BYTES } });
  }

  /** Null for what is no URL that can be called. */
  async send({ accountId, url, contentType, currency }: TestOrder): Promise<TestOutcome | null> {
    const { store, clock } = this.#parts;
    const target = readTarget(url);
    if (target === null) return null;
    const { secrets } = await store.callbackPolicy({ accountId });
    const nowMs = clock.now();
    const batch: DeliveryBatch = {
      kind: "delivery",
      id: `test-${publicId(8)}`,
      accountId,
      url,
      form: contentType,
      attempts: 0,
      items: [sampleReport(currency, nowMs)],
    };
    const post = requestFor(batch, target, secrets.map(signingKey), nowMs);
    let headers: AnswerHeaders = {};
    const startedMs = clock.monotonic();
    const answer = await this.#transport.post(post, (head) => {
      headers = head;
    });
    const durationMs = Math.round(clock.monotonic() - startedMs);
    // A receiver hears from here seldom: its connection need not wait for more.
    this.#transport.forget(target.origin);
    const { authorization: _, ...sent } = post.headers;
    return {
      request: { headers: sent, body: post.body },
      answer:
        answer.kind === "answered" ? { status: answer.status, headers: clipped(headers), body: answer.excerpt } : null,
      reason: answer.kind === "answered" ? null : answer.reason,
      durationMs,
    };
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}

/** Its ids say that it is a test, and its number is one that nobody has. */
function sampleReport(currency: string, atMs: number): DeliveryBatch["items"][number] {
  return {
    ...carriedOf({}),
    bulkId: "test-callback",
    messageId: "test-callback",
    to: "41790000000",
    from: "Heliograph",
    sentAtMs: atMs - 1_000,
    doneAtMs: atMs,
    smsCount: 1,
    mccMnc: null,
    pricePerPartMicros: 0n,
    currency,
    statusId: STATUS.DELIVERED_TO_HANDSET.id,
    errorId: 0,
  };
}

function clipped(headers: AnswerHeaders): Record<string, string> {
  const shown = Object.entries(headers).slice(0, MAX_HEADERS);
  return Object.fromEntries(
    shown.map(([name, value]) => [name.slice(0, MAX_HEADER_LENGTH), String(value).slice(0, MAX_HEADER_LENGTH)]),
  );
}
