/** An account's postings, newest first: the newest follow live, older ones come when they are asked for. */
import { ReceiptText } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api.ts";
import { useView } from "../../live.ts";
import { Amount, count } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { useAction } from "../../parts/Dialog.tsx";
import { Empty, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import "./statement.css";

interface Line {
  readonly id: string;
  readonly at: string;
  readonly kind: "charge" | "refund" | "funds" | "correction" | "transfer" | "writeOff";
  readonly amount: string;
  readonly balance: string;
  readonly messageId: string | null;
  readonly smsCount: number | null;
  readonly description: string | null;
}

interface StatementAnswer {
  readonly account: string;
  readonly currency: string;
  readonly balance: string;
  readonly results: readonly Line[];
  readonly next: string | null;
}

interface Shown {
  readonly account: string | undefined;
  readonly lines: readonly Line[];
  readonly next: string | null;
}

/** A page left open all night: what is above this is fetched again by whoever scrolls. */
const MAX_LINES = 5_000;

const WORDS: Readonly<Record<Line["kind"], string>> = {
  charge: "Messages",
  refund: "Given back",
  funds: "Funds",
  correction: "Correction",
  transfer: "Transfer",
  writeOff: "Written off",
};

/** With two places at least, so that figures stand below each other. */
export function placed(amount: string): string {
  const [units = "0", places = ""] = amount.split(".");
  return `${units}.${places.padEnd(2, "0")}`;
}

function what({ kind, smsCount, description }: Line): string {
  const parts = smsCount === null ? null : `${count(smsCount)} ${smsCount === 1 ? "part" : "parts"}`;
  return [WORDS[kind], description, parts].filter(Boolean).join(" · ");
}

/** The newest lines with those that were there before below them. Where there is a gap between the two it begins anew. */
function joined(before: Shown, { results, next }: StatementAnswer, account: string | undefined): Shown {
  const newest = { account, lines: results, next };
  if (before.account !== account || before.lines.length === 0) return newest;
  const last = results.at(-1);
  const at = before.lines.findIndex(({ id }) => id === last?.id);
  if (at < 0) return newest;
  const older = before.lines.slice(at + 1);
  return { account, lines: [...results, ...older].slice(0, MAX_LINES), next: older.length > 0 ? before.next : next };
}

export interface StatementProps {
  /** Whose, where it is not one's own. */
  readonly account?: string;
  /** Whether its messages are the reader's own, and have a page. */
  readonly linked?: boolean;
}

export function Statement({ account, linked = false }: StatementProps) {
  const { data, problem } = useView<StatementAnswer>("statement", { account });
  const [shown, setShown] = useState<Shown>({ account, lines: [], next: null });
  useEffect(() => {
    if (data !== null) setShown((before) => joined(before, data, account));
  }, [data, account]);
  const older = useAction(
    () => api.get<StatementAnswer>("/console/1/statement", { account, after: shown.next }),
    ({ results, next }) => setShown((now) => ({ ...now, lines: [...now.lines, ...results].slice(0, MAX_LINES), next })),
  );

  if (problem !== null && data === null) return <ProblemBox of={problem} />;
  if (data === null) return <Busy />;
  if (shown.lines.length === 0)
    return (
      <Empty title="Nothing was posted yet" icon={ReceiptText}>
        Every charge, every refund and all funds stand here, each with the balance after it.
      </Empty>
    );
  const columns: Column<Line>[] = [
    { head: "Time", width: "168px", cell: ({ at }) => <Time at={at} /> },
    { head: "What", width: "minmax(0, 1fr)", cell: (line) => <What line={line} linked={linked} /> },
    { head: "Amount", width: "120px", number: true, cell: ({ amount }) => <Amount of={placed(amount)} sign /> },
    {
      head: `Balance, ${data.currency}`,
      width: "136px",
      number: true,
      cell: ({ balance }) => <Amount of={placed(balance)} />,
    },
  ];
  return (
    <div class="money-statement">
      <DataTable label="Statement" columns={columns} rows={shown.lines} keyOf={({ id }) => id}>
        {shown.next !== null && shown.lines.length < MAX_LINES && (
          <Button busy={older.busy} onClick={older.run}>
            Older
          </Button>
        )}
      </DataTable>
      <ProblemBox of={older.problem} />
    </div>
  );
}

function What({ line, linked }: { line: Line; linked: boolean }) {
  const words = what(line);
  // A charge is for all messages of a request, and names the first: with several parts it may not be of that one alone.
  const isOfOne = line.kind === "refund" || line.smsCount === 1;
  if (!linked || line.messageId === null || !isOfOne) return <span title={words}>{words}</span>;
  return (
    <a href={`/messages/${line.messageId}`} title={`Message ${line.messageId}`}>
      {words}
    </a>
  );
}
