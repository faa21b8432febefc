/** Whether all is well, for the overview and for the sign in the menu: one live view for both. */
import { useView, type ViewState } from "../../live.ts";
import { me } from "../../session.ts";

export interface Finding {
  readonly state: "wrong" | "warning";
  readonly area: string;
  readonly about: string;
  readonly says: string;
  readonly mend: string | null;
  readonly page: string | null;
}

export interface Reason {
  readonly errorId: number;
  readonly name: string;
  readonly description: string;
  readonly count: number;
}

export interface Overview {
  readonly state: "well" | "warning" | "wrong" | "looking";
  readonly sentence: string;
  readonly findings: readonly Finding[];
  readonly moreFindings: number;
  readonly checks: readonly {
    readonly name: string;
    readonly findings: number;
    readonly at: string | null;
    readonly tookMs: number | null;
    readonly beyond: string | null;
  }[];
  readonly now: Readonly<
    Record<"accepted" | "submitted" | "delivered" | "failed" | "answerMs" | "receiptMs", number | null>
  >;
  readonly backlog: Readonly<
    Record<"inMemory" | "queued" | "scheduled" | "due" | "lanes" | "overflowedLanes" | "most", number>
  >;
  readonly reports: Readonly<Record<"waiting" | "inMemory" | "dead" | "failingHosts", number>>;
  readonly carriers: { readonly up: number; readonly all: number };
  readonly reasons: readonly Reason[];
}

export function useOverview(): ViewState<Overview> {
  return useView<Overview>(me.value?.kind === "operator" ? "overview" : null);
}

/** What the menu shows beside the overview: the colour of a dot and what it says; null while there is nothing to say, or nobody to say it to. */
export function useHealth(): { readonly is: "failed" | "retrying"; readonly says: string } | null {
  const { data } = useOverview();
  if (data === null || data.findings.length === 0) return null;
  return { is: data.state === "wrong" ? "failed" : "retrying", says: data.sentence };
}
