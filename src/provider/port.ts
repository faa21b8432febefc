/** What the simulated provider needs to know of an API: how a message comes in, how it is answered, and how the provider calls back. */

/** A request as it came. */
export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface ProviderReply {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A message that the provider took. Of one that it cut, one for each part. */
export interface TakenMessage {
  readonly id: string;
  readonly from: string;
  /** Without a plus sign. */
  readonly to: string;
  readonly text: string;
  /** What the customer calls it; null where the API has no place for that. */
  readonly reference: string | null;
  /** Where its receipts go. */
  readonly callbackUrl: string | null;
}

export type Outcome = "held" | "delivered" | "undeliverable" | "rejected" | "expired";

/** A request that the provider makes: a POST unless it says otherwise. */
export interface OutCall {
  readonly method?: "GET";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ProviderSettings {
  /** As whom the customer comes, where that is looked at. */
  readonly username: string;
  readonly password: string;
  /** What callbacks are signed with. */
  readonly secret: string;
}

/** What became of a message: its state, and the provider's own code where a fault says so; else the usual one of that state. */
export interface ProviderOutcome {
  readonly outcome: Outcome;
  readonly code: string | null;
}

/** What a provider says of a message when it is asked. */
export interface Known {
  readonly message: TakenMessage;
  readonly fate: ProviderOutcome | null;
}

export interface ProviderState {
  /** By its id. */
  find(id: string): Known | undefined;
  findByReference(reference: string): Known | undefined;
}

export type Taken =
  | { readonly kind: "taken"; readonly messages: readonly TakenMessage[]; readonly reply: ProviderReply }
  | { readonly kind: "reply"; readonly reply: ProviderReply };

export interface ProviderApi {
  /** Whether it is a message, where not each POST is one and nothing else. */
  isSending?(call: ProviderRequest): boolean;
  /** A message, a question, or nothing that this API has. */
  take(call: ProviderRequest, state: ProviderState, nextId: () => string, settings: ProviderSettings): Taken;
  /** How it says that it is asked too much, and that it is broken. */
  tooFast(): ProviderReply;
  broken(): ProviderReply;
  /** How it refuses a message with one of its codes. */
  refusal(code: string, call: ProviderRequest): ProviderReply;
  /** What became of a message, to the address that it came with; left out where messages have none. */
  receipt?(url: string, message: TakenMessage, fate: ProviderOutcome, settings: ProviderSettings): OutCall;
  /** What a phone wrote, to the customer's address. */
  incoming(
    url: string,
    message: { readonly id: string; readonly from: string; readonly to: string; readonly text: string },
    settings: ProviderSettings,
  ): OutCall;
}

export const NOT_FOUND: Taken = { kind: "reply", reply: { status: 404, json: { error: "not found" } } };
