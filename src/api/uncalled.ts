/**
 * Addresses that reports are never pushed to (http/guard.ts). Whoever gives one is told so with the answer, as of other things that look odd
 * about a request: the message goes all the same. Names that lead to such an address show at the first try, because nobody is asked for them before.
 */
import { type AddressPolicy, urlRefusal } from "../http/guard.ts";
import type { Intake } from "../intake/intake.ts";
import type { SendRequest } from "../intake/request.ts";
import { pushRules } from "../reports/pushing/push-settings.ts";
import { boundedCache } from "../runtime/cache.ts";
import { hostOf } from "../runtime/urls.ts";
import type { Settings } from "../settings/settings.ts";

/** What is to be said of a URL that is given to be called; null where there is nothing. */
export type Uncalled = (url: string) => string | null;

/** URLs of which it is known that there is nothing to be said: a client gives one with every message. */
const MAX_CALLED = 1_000;

export function uncalledBy({ reports }: Pick<Settings, "reports">, isSandbox: boolean): Uncalled {
  const { policy } = pushRules(reports, isSandbox);
  const called = boundedCache<string, true>(MAX_CALLED);
  return (url) => {
    if (called.has(url)) return null;
    const warning = warningOf(url, policy);
    if (warning === null) called.set(url, true);
    return warning;
  };
}

function warningOf(url: string, policy: AddressPolicy): string | null {
  const why = urlRefusal(url, policy);
  return why === null ? null : `nothing is pushed to ${hostOf(url)}: ${why}`;
}

/** The intake, whose answers say so of the first such URL of a request. */
export function tellingUncalled(intake: Pick<Intake, "send">, uncalled: Uncalled): Pick<Intake, "send"> {
  return {
    send: async (account, request) => {
      const answer = await intake.send(account, request);
      const warning = answer.kind === "accepted" ? firstOf(request, uncalled) : null;
      return warning === null || answer.kind !== "accepted"
        ? answer
        : { ...answer, warnings: [...(answer.warnings ?? []), warning] };
    },
  };
}

function firstOf({ messages }: SendRequest, uncalled: Uncalled): string | null {
  let before: string | undefined;
  for (const { fields } of messages) {
    const { notifyUrl } = fields;
    // Most requests have one for all of their messages.
    if (notifyUrl === undefined || notifyUrl === before) continue;
    before = notifyUrl;
    const warning = uncalled(notifyUrl);
    if (warning !== null) return warning;
  }
  return null;
}
