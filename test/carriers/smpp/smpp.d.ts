/** As much of the npm library `smpp`, which has no types, as the tests use of it: the independent other end. */
declare module "smpp" {
  import type { EventEmitter } from "node:events";
  import type { Server as NetServer, Socket } from "node:net";

  type Fields = Readonly<Record<string, unknown>>;

  export class PDU {
    constructor(command: string, options?: Fields);
    readonly command: string;
    readonly command_status: number;
    readonly sequence_number: number;
    /** All others, by the standard's name. */
    readonly [field: string]: unknown;
    response(options?: Fields): PDU;
    toBuffer(): Buffer;
  }

  export class Session extends EventEmitter {
    readonly socket: Socket;
    send(pdu: PDU, onResponse?: (pdu: PDU) => void): boolean;
    close(onClosed?: () => void): void;
    destroy(onClosed?: () => void): void;
    pause(): void;
    resume(): void;
  }

  const library: {
    PDU: typeof PDU;
    createServer(onSession: (session: Session) => void): NetServer;
    /** Makes an optional parameter known, for all sessions of the process. */
    addTLV(name: string, options: { readonly id: number; readonly type: unknown }): void;
    readonly types: { readonly tlv: Readonly<Record<string, unknown>> };
    connect(options: { host: string; port: number }): Session;
  };
  export default library;
}
