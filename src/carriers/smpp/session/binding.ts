/** How the SMSC's end answers a bind: what `onBind` decides, put into a response. */
import { responseTo } from "../codec/commands.ts";
import type { Pdu, PduDraft } from "../codec/pdu.ts";
import { statusCode } from "../codec/statuses.ts";
import { makeTlv } from "../codec/tlvs.ts";
import type { BindDecision, SessionHandlers } from "./contract.ts";
import type { BindName } from "./states.ts";

export const INTERFACE_VERSION = 0x34;

/** Status 0 accepts. Nobody may bind where there is no `onBind`, or where it fails. */
export async function answerBind(pdu: Pdu<BindName>, handlers: SessionHandlers): Promise<PduDraft<`${BindName}_resp`>> {
  const decision = await decide(pdu, handlers);
  const command = responseTo(pdu.command);
  if (decision.kind === "refuse") return { command, status: decision.status };
  const { systemId, tlvs = [] } = decision;
  // 3.4 §3.4: a peer of an older version must not be sent optional parameters.
  if (pdu.interfaceVersion < INTERFACE_VERSION) return { command, systemId };
  return { command, systemId, tlvs: [makeTlv("sc_interface_version", INTERFACE_VERSION), ...tlvs] };
}

async function decide(pdu: Pdu<BindName>, handlers: SessionHandlers): Promise<BindDecision> {
  try {
    return (await handlers.onBind?.(pdu)) ?? { kind: "refuse", status: statusCode("ESME_RBINDFAIL") };
  } catch (error) {
    handlers.onProblem?.({ kind: "handler", request: pdu, error });
    return { kind: "refuse", status: statusCode("ESME_RSYSERR") };
  }
}
