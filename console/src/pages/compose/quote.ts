/** What the service answers to "where would these go, what would it cost, and why"; asked again a moment after the question has changed. */
import { useEffect, useState } from "preact/hooks";
import { api, Problem } from "../../api.ts";

export interface QuotedCarrier {
  readonly id: string;
  readonly weight: number;
  readonly up: boolean | null;
  readonly writesSender: boolean;
  readonly alphabet: string;
  readonly missingLetters: string;
  readonly chance: number;
  readonly says: string;
}

export interface QuoteAnswer {
  readonly account: string;
  readonly ratePlan: string;
  readonly currency: string;
  readonly from: string;
  readonly parts: number;
  readonly available: string | null;
  readonly amount: string;
  readonly rejected: number;
  readonly otherCurrencies: readonly { readonly currency: string; readonly rate: string; readonly amount: string }[];
  readonly numbers: readonly {
    readonly to: string;
    readonly country: { readonly code: string; readonly name: string } | null;
    readonly sent: boolean;
    readonly status: string | null;
    readonly problem: string | null;
    readonly route: string | null;
    readonly pricePrefix: string | null;
    readonly pricePerPart: string | null;
    readonly carriers: readonly { readonly id: string; readonly chance: number }[];
  }[];
  readonly steps: readonly {
    readonly name: string;
    readonly good: boolean;
    readonly open: boolean;
    readonly says: string;
  }[];
  readonly groups: readonly { readonly used: boolean; readonly carriers: readonly QuotedCarrier[] }[];
}

/** Numbers that one question may be about. */
export const QUOTED_NUMBERS = 100;
const PAUSE_MS = 250;

export interface QuoteQuestion {
  readonly to: readonly string[];
  readonly from: string;
  readonly parts: number;
}

/** The answer to the latest question; null while there is none. `again` asks anew, as after the balance has changed. */
export function useQuote({ to, from, parts }: QuoteQuestion): {
  readonly quote: QuoteAnswer | null;
  readonly problem: Problem | null;
  readonly again: () => void;
} {
  const [quote, setQuote] = useState<QuoteAnswer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, setTurn] = useState(0);
  const numbers = to.slice(0, QUOTED_NUMBERS).join(",");
  useEffect(() => {
    if (numbers === "") {
      setQuote(null);
      setProblem(null);
      return;
    }
    let gone = false;
    const ask = async (): Promise<void> => {
      try {
        const answer = await api.get<QuoteAnswer>("/console/1/quote", { to: numbers, from: from.trim(), parts });
        if (gone) return;
        setQuote(answer);
        setProblem(null);
      } catch (error) {
        if (!gone) setProblem(error instanceof Problem ? error : new Problem((error as Error).message));
      }
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [numbers, from, parts, turn]);
  return { quote, problem, again: () => setTurn((before) => before + 1) };
}
