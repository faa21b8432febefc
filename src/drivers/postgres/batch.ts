/**
 * Statements of one transaction that go to the database together, and are answered together:
 *
 *   one Sync a statement     the database writes to the socket after each: twenty writes there, twenty reads here
 *   one Sync a batch         a few writes, whenever 8 KB have come together, and one at the end
 *
 * The driver sees a batch as one query. When a statement fails, the database passes over those behind it until the Sync; in a transaction
 * they would have failed anyway. So only statements of one transaction may share a batch, and what ends the transaction has one of its own.
 */
import pg from "pg";
import { BEHIND_A_FAILURE } from "./faults.ts";

export interface StatementAnswer {
  readonly rows: object[];
  readonly count: number;
}

/** How the rows of a statement are read. */
export interface Columns {
  read(fields: readonly (string | null)[]): object;
}

export interface BatchStatement {
  readonly text: string;
  /** Under which it is prepared; empty for one that is not kept. */
  readonly name: string;
  /** Whether the database has yet to prepare it. */
  readonly isNew: boolean;
  readonly values: readonly (string | null)[];
  /** Those of its rows, null where it has none; undefined when the database has to tell. */
  readonly columns: Columns | null | undefined;
  readonly done: (answer: StatementAnswer, columns: Columns | null) => void;
  readonly failed: (error: unknown) => void;
}

/** What the driver's connection can send. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(statement: { name: string; text: string }): void;
  bind(values: { statement: string; values: readonly (string | null)[] }): void;
  describe(portal: { type: "P"; name: string }): void;
  execute(): void;
  sync(): void;
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

type ParserOf = (typeId: number) => (text: string) => unknown;

function columnsOf(fields: readonly Field[], parserOf: ParserOf): Columns {
  const parsers = fields.map(({ dataTypeID }) => parserOf(dataTypeID));
  const names = fields.map(({ name }) => name);
  // A copy of a row that has all names is faster than one that gets them one by one.
  const empty: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, null]));
  return {
    read(texts) {
      const row = { ...empty };
      for (let index = 0; index < texts.length; index++) {
        const text = texts[index]!;
        if (text !== null) row[names[index]!] = parsers[index]!(text);
      }
      return row;
    },
  };
}

/** What PostgreSQL says of a statement in a transaction that has failed. */
function transactionFailed(): Error {
  return Object.assign(new Error("the transaction has failed before this statement"), { code: BEHIND_A_FAILURE });
}

export class Batch extends pg.Query {
  /** Of the statement that is being answered: the driver notes under it that it was prepared. */
  name = "";
  text = "";
  readonly #parserOf: ParserOf;
  readonly #statements: BatchStatement[] = [];
  readonly #answers: { readonly answer: StatementAnswer; readonly columns: Columns | null }[] = [];
  #columns: Columns | null = null;
  #rows: object[] = [];
  #unreadable: unknown = null;

  constructor(parserOf: ParserOf) {
    super("");
    this.#parserOf = parserOf;
  }

  add(statement: BatchStatement): void {
    this.#statements.push(statement);
  }

  override submit = (connection: pg.Connection): null => {
    const wire = connection as unknown as Wire;
    wire.stream.cork();
    for (const { name, text, isNew, values, columns } of this.#statements) {
      if (isNew) wire.parse({ name, text });
      wire.bind({ statement: name, values });
      if (columns === undefined) wire.describe({ type: "P", name: "" });
      wire.execute();
    }
    wire.sync();
    wire.stream.uncork();
    this.#next();
    return null;
  };

  #next(): void {
    const statement = this.#statements[this.#answers.length];
    this.name = statement?.name ?? "";
    this.text = statement?.text ?? "";
    this.#columns = statement?.columns ?? null;
    this.#rows = [];
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#columns = columnsOf(fields, this.#parserOf);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(this.#columns!.read(fields));
    } catch (error) {
      this.#unreadable ??= error;
    }
  }

  /** `text` is the command with the number of its rows: "UPDATE 25". */
  handleCommandComplete({ text }: { text: string }): void {
    const count = Number(text.slice(text.lastIndexOf(" ") + 1)) || 0;
    this.#answers.push({ answer: { rows: this.#rows, count }, columns: this.#columns });
    this.#next();
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: "" });
  }

  handleReadyForQuery(): void {
    if (this.#unreadable !== null) this.#settle(0, this.#unreadable);
    else this.#settle(this.#answers.length, null);
  }

  /** The first statement without an answer has failed; where all have one, the last: it was its commit that failed. */
  handleError(error: unknown): void {
    this.#settle(Math.min(this.#answers.length, this.#statements.length - 1), error);
  }

  #settle(answered: number, error: unknown): void {
    this.#statements.splice(0).forEach(({ done, failed }, index) => {
      if (index < answered) done(this.#answers[index]!.answer, this.#answers[index]!.columns);
      else failed(index === answered ? error : transactionFailed());
    });
  }
}
