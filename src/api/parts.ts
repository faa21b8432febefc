/** What the operations of the API are made with. Each names those that it uses. */
import type { LoginLog } from "../auth/login-log.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { LiveHub } from "../events/live.ts";
import type { Intake } from "../intake/intake.ts";
import type { TestCallbacks } from "../reports/pushing/test-callbacks.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { TimeTravel } from "../runtime/time-travel.ts";
import type { Settings } from "../settings/settings.ts";
import type { AskNetwork } from "../simulator/network.ts";
import type { Store } from "../store/port/store.ts";
import type { AdmitNamed } from "./admission.ts";
import type { AuthParts } from "./auth.ts";
import type { CarriersPort, ServiceHealth } from "./console/health.ts";
import type { Live } from "./console/live.ts";
import type { RequestLog } from "./console/request-log.ts";
import type { RateLimits } from "./rate-limits.ts";

export interface ApiParts extends AuthParts {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  readonly logins: LoginLog;
  readonly intake: Pick<Intake, "send">;
  readonly rateLimits: RateLimits;
  readonly admitNamed: AdmitNamed;
  readonly carriers: CarriersPort;
  readonly testCallbacks: TestCallbacks;
  /** Null outside the sandbox. */
  readonly sandbox: SandboxPort | null;
  readonly health: ServiceHealth;
  readonly requestLog: RequestLog;
  readonly live: Live;
  readonly liveHub: LiveHub;
  /** Where the console was built. */
  readonly consoleFolder: string;
}

/** What the other side of the service does for the sandbox. */
export interface SandboxPort {
  /** Resolves when the message is in the store; false when no simulated network runs. */
  readonly write: (message: { from: string; to: string; text: string }) => Promise<boolean>;
  readonly network: AskNetwork;
  /** Null where the clock cannot be moved. */
  readonly travel: Pick<TimeTravel, "offsetMs" | "now" | "jump"> | null;
}
