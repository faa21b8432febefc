/** Who is signed in, and what this installation is. */
import { signal } from "@preact/signals";
import { api, onOtherAccount, onSignedOut, Problem, showAccount } from "./api.ts";
import { forgetViews } from "./live.ts";
import { setClockOffset } from "./parts/Time.tsx";

export type AccountKind = "client" | "reseller" | "operator";

export interface Me {
  readonly accountKey: string;
  readonly kind: AccountKind;
  readonly username: string | null;
  readonly currency: string;
  readonly balance: string;
  readonly creditLimit: string;
  readonly sandbox: boolean;
  readonly version: string;
  readonly secondFactor: { readonly enabled: boolean; readonly required: boolean };
  /** By how much the sandbox's clock was moved. */
  readonly clockOffsetMs: number;
}

export interface About {
  readonly signedIn: boolean;
  readonly sandbox: boolean;
  readonly version: string;
  readonly demoAccounts: readonly { readonly username: string; readonly kind: AccountKind }[];
}

/** Undefined until it is known; null when nobody is. */
export const me = signal<Me | null | undefined>(undefined);
export const about = signal<About | null>(null);
/** Said on the sign-in page, when one did not sign out. */
export const signInReason = signal("");

const RETRY_MS = 1_000;

/** Asks who is signed in, until the service answers. */
export async function start(): Promise<void> {
  for (;;) {
    try {
      about.value = await api.get<About>("/console/1/about");
      // Asked without a session it would be an error, which browsers write down.
      if (about.value.signedIn) await look();
      else me.value = null;
      return;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        me.value = null;
        return;
      }
      if (error instanceof Problem && error.status !== 0 && error.status < 500) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Sees who is signed in. */
async function look(): Promise<void> {
  showAccount(null);
  const who = await api.get<Me>("/console/1/me");
  showAccount(who.accountKey);
  setClockOffset(who.clockOffsetMs);
  me.value = who;
}

async function enter(signIn: Promise<unknown>): Promise<void> {
  await signIn;
  await look();
  signInReason.value = "";
  forgetViews();
}

export const signIn = (credentials: { username: string; password: string; code?: string }) =>
  enter(api.post("/console/1/session", credentials));

export const signInDemo = (username: string) => enter(api.post("/console/1/session/demo", { account: username }));

export async function signOut(): Promise<void> {
  try {
    await api.delete("/console/1/session");
  } catch (error) {
    // A session that has ended already is what was wanted.
    if (!(error instanceof Problem) || error.status !== 401) throw error;
  }
  leave("");
}

function leave(reason: string): void {
  showAccount(null);
  me.value = null;
  signInReason.value = reason;
  forgetViews();
}

onSignedOut(() => {
  if (me.value) leave("Your session has ended. Sign in again; you come back to this page.");
});

onOtherAccount(() => {
  void look().then(forgetViews, () => {});
});
