/**
 * Command statuses: what a response says of its request, by the names of SMPP 3.4 §5.1.3 and 5.0 §4.7.6. What a status means
 * for a message (try again, give up, slow down) is the carrier's business.
 */
export const COMMAND_STATUSES = {
  ESME_ROK: { code: 0x00, text: "no error" },
  ESME_RINVMSGLEN: { code: 0x01, text: "message length is invalid" },
  ESME_RINVCMDLEN: { code: 0x02, text: "command length is invalid" },
  ESME_RINVCMDID: { code: 0x03, text: "invalid command id" },
  ESME_RINVBNDSTS: { code: 0x04, text: "not allowed in this bind state" },
  ESME_RALYBND: { code: 0x05, text: "already bound" },
  ESME_RINVPRTFLG: { code: 0x06, text: "invalid priority flag" },
  ESME_RINVREGDLVFLG: { code: 0x07, text: "invalid registered delivery flag" },
  ESME_RSYSERR: { code: 0x08, text: "system error" },
  ESME_RINVSRCADR: { code: 0x0a, text: "invalid source address" },
  ESME_RINVDSTADR: { code: 0x0b, text: "invalid destination address" },
  ESME_RINVMSGID: { code: 0x0c, text: "message id is invalid" },
  ESME_RBINDFAIL: { code: 0x0d, text: "bind failed" },
  ESME_RINVPASWD: { code: 0x0e, text: "invalid password" },
  ESME_RINVSYSID: { code: 0x0f, text: "invalid system id" },
  ESME_RCANCELFAIL: { code: 0x11, text: "cancel failed" },
  ESME_RREPLACEFAIL: { code: 0x13, text: "replace failed" },
  ESME_RMSGQFUL: { code: 0x14, text: "message queue full" },
  ESME_RINVSERTYP: { code: 0x15, text: "invalid service type" },
  ESME_RINVNUMDESTS: { code: 0x33, text: "invalid number of destinations" },
  ESME_RINVDLNAME: { code: 0x34, text: "invalid distribution list name" },
  ESME_RINVDESTFLAG: { code: 0x40, text: "invalid destination flag" },
  ESME_RINVSUBREP: { code: 0x42, text: "submit with replace is not allowed" },
  ESME_RINVESMCLASS: { code: 0x43, text: "invalid esm_class" },
  ESME_RCNTSUBDL: { code: 0x44, text: "cannot submit to a distribution list" },
  ESME_RSUBMITFAIL: { code: 0x45, text: "submit failed" },
  ESME_RINVSRCTON: { code: 0x48, text: "invalid source type of number" },
  ESME_RINVSRCNPI: { code: 0x49, text: "invalid source numbering plan" },
  ESME_RINVDSTTON: { code: 0x50, text: "invalid destination type of number" },
  ESME_RINVDSTNPI: { code: 0x51, text: "invalid destination numbering plan" },
  ESME_RINVSYSTYP: { code: 0x53, text: "invalid system type" },
  ESME_RINVREPFLAG: { code: 0x54, text: "invalid replace_if_present flag" },
  ESME_RINVNUMMSGS: { code: 0x55, text: "invalid number of messages" },
  ESME_RTHROTTLED: { code: 0x58, text: "throttled: more messages than allowed" },
  ESME_RINVSCHED: { code: 0x61, text: "invalid scheduled delivery time" },
  ESME_RINVEXPIRY: { code: 0x62, text: "invalid validity period" },
  ESME_RINVDFTMSGID: { code: 0x63, text: "predefined message is invalid or not found" },
  ESME_RX_T_APPN: { code: 0x64, text: "receiver: temporary error" },
  ESME_RX_P_APPN: { code: 0x65, text: "receiver: permanent error" },
  ESME_RX_R_APPN: { code: 0x66, text: "receiver: message rejected" },
  ESME_RQUERYFAIL: { code: 0x67, text: "query failed" },
  ESME_RINVOPTPARSTREAM: { code: 0xc0, text: "error in the optional parameters" },
  ESME_ROPTPARNOTALLWD: { code: 0xc1, text: "optional parameter not allowed" },
  ESME_RINVPARLEN: { code: 0xc2, text: "invalid parameter length" },
  ESME_RMISSINGOPTPARAM: { code: 0xc3, text: "an expected optional parameter is missing" },
  ESME_RINVOPTPARAMVAL: { code: 0xc4, text: "invalid value of an optional parameter" },
  ESME_RDELIVERYFAILURE: { code: 0xfe, text: "delivery failure" },
  ESME_RUNKNOWNERR: { code: 0xff, text: "unknown error" },
  // 5.0
  ESME_RSERTYPUNAUTH: { code: 0x100, text: "not authorised for this service type" },
  ESME_RPROHIBITED: { code: 0x101, text: "prohibited from this operation" },
  ESME_RSERTYPUNAVAIL: { code: 0x102, text: "service type is unavailable" },
  ESME_RSERTYPDENIED: { code: 0x103, text: "service type is denied" },
  ESME_RINVDCS: { code: 0x104, text: "invalid data coding scheme" },
  ESME_RINVSRCADDRSUBUNIT: { code: 0x105, text: "source address subunit is invalid" },
  ESME_RINVDSTADDRSUBUNIT: { code: 0x106, text: "destination address subunit is invalid" },
  ESME_RINVBCASTFREQINT: { code: 0x107, text: "invalid broadcast frequency interval" },
  ESME_RINVBCASTALIAS_NAME: { code: 0x108, text: "invalid broadcast alias name" },
  ESME_RINVBCASTAREAFMT: { code: 0x109, text: "invalid broadcast area format" },
  ESME_RINVNUMBCAST_AREAS: { code: 0x10a, text: "invalid number of broadcast areas" },
  ESME_RINVBCASTCNTTYPE: { code: 0x10b, text: "invalid broadcast content type" },
  ESME_RINVBCASTMSGCLASS: { code: 0x10c, text: "invalid broadcast message class" },
  ESME_RBCASTFAIL: { code: 0x10d, text: "broadcast failed" },
  ESME_RBCASTQUERYFAIL: { code: 0x10e, text: "broadcast query failed" },
  ESME_RBCASTCANCELFAIL: { code: 0x10f, text: "broadcast cancel failed" },
  ESME_RINVBCAST_REP: { code: 0x110, text: "invalid number of repeated broadcasts" },
  ESME_RINVBCASTSRVGRP: { code: 0x111, text: "invalid broadcast service group" },
  ESME_RINVBCASTCHANIND: { code: 0x112, text: "invalid broadcast channel indicator" },
} as const satisfies Record<string, { readonly code: number; readonly text: string }>;

export type CommandStatus = keyof typeof COMMAND_STATUSES;

const NAMES = new Map(Object.entries(COMMAND_STATUSES).map(([name, { code }]) => [code as number, name]));

export function statusCode(status: CommandStatus): number {
  return COMMAND_STATUSES[status].code;
}

/** For logs and people: the standard's name, or the number for a status of the carrier's own. */
export function statusName(code: number): string {
  return NAMES.get(code) ?? `0x${code.toString(16).padStart(8, "0")}`;
}
