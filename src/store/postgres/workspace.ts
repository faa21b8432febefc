/** The commands with the tables of one transaction at a time: one workspace writes, and each look beside it has one of its own. */
import type { Session } from "../../drivers/postgres/link.ts";
import type { ReportBatch } from "../../message/message.ts";
import type { CommandParts } from "../command-parts.ts";
import { type CommandTable, type Rules, runCommand } from "../command-table.ts";
import type { Call } from "../group.ts";
import { Unit } from "../unit.ts";
import type { MessagePurge } from "./message-purge.ts";
import type { Nodes } from "./nodes.ts";
import type { OwnedMessages } from "./owned-messages.ts";
import type { Partitions } from "./partitions.ts";
import { replicationOf } from "./replication.ts";
import type { ServiceWallets } from "./service-wallets.ts";
import { PostgresSql } from "./sql.ts";
import { storageOf } from "./storage.ts";
import { type Locking, PostgresTables } from "./tables.ts";

export interface WorkspaceParts
  extends Pick<CommandParts, "lanes" | "ids" | "references" | "epoch" | "pushes" | "now" | "secrets"> {
  readonly rules: Rules;
  readonly nodes: Nodes;
  readonly partitions: Partitions;
  readonly messagePurge: MessagePurge;
  readonly serviceWallets: ServiceWallets;
  readonly owned: OwnedMessages;
}

/** A command by itself. */
const ALONE: Locking = { isPatient: false, locksWallets: true };

export class Workspace {
  readonly tables: PostgresTables;
  readonly commands: CommandTable;
  readonly #rules: Rules;
  readonly #parts: CommandParts;
  #session: Session | null = null;
  #unit = new Unit();

  constructor(parts: WorkspaceParts) {
    const { rules, nodes, partitions, messagePurge, serviceWallets, owned, lanes } = parts;
    this.#rules = rules;
    const session = (): Session => this.#session!;
    this.tables = new PostgresTables(session, partitions, serviceWallets, owned);
    this.#parts = {
      ...parts,
      sql: new PostgresSql(session),
      tables: this.tables,
      unit: () => this.#unit,
      // The lines are to each other as nodes are.
      hasOthers: () => true,
    };
    this.commands = rules.commandTable(this.#parts, {
      cluster: () => nodes.cluster(session()),
      nodes: async ({ storage = false, replication = false }) => ({
        ...(await nodes.facts(session())),
        replication: replication ? await replicationOf(session()) : null,
        storage: storage ? await storageOf(session()) : null,
      }),
      shareBinds: async ({ claims }) => {
        const unit = this.#unit;
        const shares = await nodes.shareBinds(session(), claims, (run) => unit.onCommit(run));
        const served = shares.filter(({ slots }) => slots.length > 0).map(({ carrierId }) => carrierId);
        unit.onCommit(() => lanes.setServed(served));
        return shares;
      },
      purgeMessages: (input) => messagePurge.purgeMessages(session(), input),
    });
  }

  /** Another transaction begins on this session. */
  begin(session: Session, locking: Locking = ALONE): Unit {
    this.#session = session;
    this.#unit = new Unit();
    this.tables.begin(locking);
    return this.#unit;
  }

  flushReports(): ReportBatch[] {
    return this.#rules.flushReports(this.#parts, this.#unit);
  }

  /** One command on a connection beside the others, which has nothing for delivery. */
  async runOne(session: Session, call: Call, inTransaction: boolean): Promise<unknown> {
    this.begin(session);
    if (!inTransaction) return await runCommand(this.commands, call);
    const begun = session.query("BEGIN");
    try {
      const value = await runCommand(this.commands, call);
      await this.tables.flush();
      await Promise.all([begun, session.query("COMMIT")]);
      return value;
    } catch (error) {
      await session.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }
}
