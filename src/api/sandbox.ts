/** What only the sandbox has: its phones, which show what they got and write when they are told to; the faults of their network; and its clock. */
import { NO_FAULTS } from "../simulator/network-faults.ts";
import type { Viewer } from "../simulator/phones.ts";
import { isDestination, NUMBER_FORM, plainPhone } from "../sms/addresses.ts";
import type { Account } from "../store/port/accounts.ts";
import { seesAll } from "./beyond.ts";
import { ApiError, badField } from "./errors.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import type { ApiParts, SandboxPort } from "./parts.ts";
import { clockOperations, SANDBOX_CHANGED, SANDBOX_SEEN } from "./sandbox-clock.ts";
import * as sandboxSchemas from "./sandbox-schemas.ts";
import * as schemas from "./schemas.ts";

/** An account sees what is its own; the operator sees all. */
export function viewerOf(caller: Account): Viewer {
  return seesAll(caller) ? null : { accountId: caller.id, accountKey: caller.key };
}

export function sandboxOperations(api: Api, { store }: ApiParts, { write, network, travel }: SandboxPort): void {
  clockOperations(api, store, travel);

  api.post(
    "/sandbox/1/incoming",
    operation({
      ...SANDBOX_CHANGED,
      id: "writeFromPhone",
      summary: "Let a simulated phone write to a number",
      schema: { body: schemas.WriteRequest },
    }),
    async ({ body }) => {
      const { to, text } = body;
      const from = readNumber("from", body.from);
      if (!/^\d{3,15}$/.test(to)) throw badField("to", "must be 3 to 15 digits");
      if (!(await write({ from, to, text }))) {
        const { connectionLost } = await network("faults", null);
        if (connectionLost)
          throw new ApiError("conflict", "The network has no connection: PUT /sandbox/1/network mends it.");
        throw new ApiError("unavailable", "The catalogue has no simulated carrier.");
      }
    },
  );

  api.put(
    "/sandbox/1/phones/:number",
    operation({
      ...SANDBOX_CHANGED,
      id: "setPhone",
      summary: "Switch a simulated phone on or off, or let it be full, abroad or unknown",
      schema: { body: sandboxSchemas.PhoneChange },
      answer: sandboxSchemas.PhoneSetting,
    }),
    async (request) => {
      const number = readNumber("number", (request.params as { number: string }).number);
      const { state = null } = request.body;
      const phone = await network("setPhone", { number, state, viewer: viewerOf(accountOf(request)) });
      return { number, state: phone.state };
    },
  );

  api.get(
    "/sandbox/1/network",
    operation({
      ...SANDBOX_SEEN,
      id: "getNetwork",
      summary: "The faults of the simulated network",
      answer: sandboxSchemas.NetworkSwitches,
    }),
    () => network("faults", null),
  );

  api.put(
    "/sandbox/1/network",
    operation({
      ...SANDBOX_CHANGED,
      id: "setNetwork",
      summary: "Set the faults of the simulated network; what is left out is off",
      schema: { body: sandboxSchemas.NetworkChange },
      answer: sandboxSchemas.NetworkSwitches,
    }),
    ({ body }) => network("setFaults", { ...NO_FAULTS, ...body }),
  );
}

/** A phone's number, in the form in which numbers are kept. */
export function readNumber(field: string, written: string): string {
  const number = plainPhone(written.trim());
  if (!isDestination(number)) throw badField(field, `must be ${NUMBER_FORM}`);
  return number;
}
