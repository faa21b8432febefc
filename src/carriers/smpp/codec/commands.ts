/**
 * The commands of SMPP 3.4 §4 and the fields of each in the order of the wire. One table: PDU types, decoding and encoding follow
 * from it. Field names are the standard's, in camel case.
 */
import { cString, destinations, type FieldCodec, shortMessage, uint8, unsuccessful } from "./fields.ts";

const ADDRESS = cString(21);
/** An address that may be longer: those of data_sm and alert_notification. */
const LONG_ADDRESS = cString(65);
const MESSAGE_ID = cString(65);
const SERVICE_TYPE = cString(6);
/** As codec/times.ts formats and reads it. */
const TIME = cString(17);

const BIND = {
  systemId: cString(16),
  password: cString(9),
  systemType: cString(13),
  interfaceVersion: uint8,
  addrTon: uint8,
  addrNpi: uint8,
  addressRange: cString(41),
} as const;

const BIND_RESP = { systemId: cString(16) } as const;

const sourceOf = (sourceAddr: FieldCodec<string>) => ({ sourceAddrTon: uint8, sourceAddrNpi: uint8, sourceAddr });
const destinationOf = (destinationAddr: FieldCodec<string>) => ({
  destAddrTon: uint8,
  destAddrNpi: uint8,
  destinationAddr,
});
const SOURCE = sourceOf(ADDRESS);
const DESTINATION = destinationOf(ADDRESS);

/** What submit_sm, deliver_sm and submit_multi have in common after their addresses. */
const MESSAGE = {
  esmClass: uint8,
  protocolId: uint8,
  priorityFlag: uint8,
  scheduleDeliveryTime: TIME,
  validityPeriod: TIME,
  registeredDelivery: uint8,
  replaceIfPresentFlag: uint8,
  dataCoding: uint8,
  smDefaultMsgId: uint8,
  shortMessage,
} as const;

const NOTHING = {} as const;

export const COMMANDS = {
  generic_nack: { id: 0x80000000, fields: NOTHING },
  bind_receiver: { id: 0x00000001, fields: BIND },
  bind_receiver_resp: { id: 0x80000001, fields: BIND_RESP },
  bind_transmitter: { id: 0x00000002, fields: BIND },
  bind_transmitter_resp: { id: 0x80000002, fields: BIND_RESP },
  query_sm: { id: 0x00000003, fields: { messageId: MESSAGE_ID, ...SOURCE } },
  query_sm_resp: {
    id: 0x80000003,
    fields: { messageId: MESSAGE_ID, finalDate: TIME, messageState: uint8, errorCode: uint8 },
  },
  submit_sm: { id: 0x00000004, fields: { serviceType: SERVICE_TYPE, ...SOURCE, ...DESTINATION, ...MESSAGE } },
  submit_sm_resp: { id: 0x80000004, fields: { messageId: MESSAGE_ID } },
  deliver_sm: { id: 0x00000005, fields: { serviceType: SERVICE_TYPE, ...SOURCE, ...DESTINATION, ...MESSAGE } },
  deliver_sm_resp: { id: 0x80000005, fields: { messageId: MESSAGE_ID } },
  unbind: { id: 0x00000006, fields: NOTHING },
  unbind_resp: { id: 0x80000006, fields: NOTHING },
  replace_sm: {
    id: 0x00000007,
    fields: {
      messageId: MESSAGE_ID,
      ...SOURCE,
      scheduleDeliveryTime: TIME,
      validityPeriod: TIME,
      registeredDelivery: uint8,
      smDefaultMsgId: uint8,
      shortMessage,
    },
  },
  replace_sm_resp: { id: 0x80000007, fields: NOTHING },
  cancel_sm: {
    id: 0x00000008,
    fields: { serviceType: SERVICE_TYPE, messageId: MESSAGE_ID, ...SOURCE, ...DESTINATION },
  },
  cancel_sm_resp: { id: 0x80000008, fields: NOTHING },
  bind_transceiver: { id: 0x00000009, fields: BIND },
  bind_transceiver_resp: { id: 0x80000009, fields: BIND_RESP },
  outbind: { id: 0x0000000b, fields: { systemId: cString(16), password: cString(9) } },
  enquire_link: { id: 0x00000015, fields: NOTHING },
  enquire_link_resp: { id: 0x80000015, fields: NOTHING },
  submit_multi: { id: 0x00000021, fields: { serviceType: SERVICE_TYPE, ...SOURCE, destinations, ...MESSAGE } },
  submit_multi_resp: { id: 0x80000021, fields: { messageId: MESSAGE_ID, unsuccessful } },
  alert_notification: {
    id: 0x00000102,
    fields: { ...sourceOf(LONG_ADDRESS), esmeAddrTon: uint8, esmeAddrNpi: uint8, esmeAddr: LONG_ADDRESS },
  },
  data_sm: {
    id: 0x00000103,
    fields: {
      serviceType: SERVICE_TYPE,
      ...sourceOf(LONG_ADDRESS),
      ...destinationOf(LONG_ADDRESS),
      esmClass: uint8,
      registeredDelivery: uint8,
      dataCoding: uint8,
    },
  },
  data_sm_resp: { id: 0x80000103, fields: { messageId: MESSAGE_ID } },
} as const satisfies Record<
  string,
  { readonly id: number; readonly fields: Readonly<Record<string, FieldCodec<unknown>>> }
>;

export type PduName = keyof typeof COMMANDS;
/** A request that is answered; outbind and alert_notification are not. */
export type RequestName = {
  [Name in PduName]: Name extends `${infer Request}_resp` ? Request : never;
}[PduName] &
  PduName;
export type ResponseName = `${RequestName}_resp`;

export const RESPONSE_BIT = 0x80000000;

const NAMES = new Map(Object.entries(COMMANDS).map(([name, { id }]) => [id as number, name as PduName]));

/** By the request's name. Looked up and not put together each time: names that are one string compare at once. */
const RESPONSES = new Map(
  Object.entries(COMMANDS).map(([name, { id }]) => [name as PduName, NAMES.get(id + RESPONSE_BIT) as ResponseName]),
);

export function commandOf(id: number): PduName | undefined {
  return NAMES.get(id);
}

export function responseTo<Name extends RequestName>(request: Name): `${Name}_resp` {
  return RESPONSES.get(request) as `${Name}_resp`;
}

export function isRequest(command: PduName): command is RequestName {
  return RESPONSES.get(command) !== undefined;
}

export function isResponse(command: PduName): command is ResponseName | "generic_nack" {
  return COMMANDS[command].id >= RESPONSE_BIT;
}
