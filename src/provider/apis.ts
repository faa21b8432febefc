/** The HTTP side of each provider, as its documentation has it (docs/carriers-http.md names the pages). */
import { android } from "./apis/android.ts";
import { bandwidth } from "./apis/bandwidth.ts";
import { heliograph } from "./apis/heliograph.ts";
import { jasmin } from "./apis/jasmin.ts";
import { kannel } from "./apis/kannel.ts";
import { plivo } from "./apis/plivo.ts";
import { sinch } from "./apis/sinch.ts";
import { telnyx } from "./apis/telnyx.ts";
import { twilio } from "./apis/twilio.ts";
import { vonage } from "./apis/vonage.ts";
import { webhook } from "./apis/webhook.ts";
import type { ProviderApi } from "./port.ts";

const all = { heliograph, twilio, vonage, sinch, plivo, telnyx, bandwidth, kannel, jasmin, android, webhook };
export const PROVIDERS: Readonly<Record<string, ProviderApi>> = all;
