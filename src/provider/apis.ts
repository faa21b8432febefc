/** The HTTP side of each provider, as its documentation has it (docs/carriers-http.md names the pages). */
import { android } from "./apis/android.ts";
import { heliograph } from "./apis/heliograph.ts";
import { plivo } from "./apis/plivo.ts";
import { sinch } from "./apis/sinch.ts";
import { twilio } from "./apis/twilio.ts";
import { vonage } from "./apis/vonage.ts";
import { webhook } from "./apis/webhook.ts";
import type { ProviderApi } from "./port.ts";

export const PROVIDERS: Readonly<Record<string, ProviderApi>> = {
  heliograph,
  twilio,
  vonage,
  sinch,
  plivo,
  android,
  webhook,
};
