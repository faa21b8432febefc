/**
 * Writing a message, with all that one wants to know while typing: parts, encoding, the characters that make it Unicode, price and way; and the same
 * request as code. `compact` is for a page that has more beside it.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import { NUMBER_FORM, SENDER_FORM } from "../../../../src/sms/addresses.ts";
import { MAX_PARTS } from "../../../../src/sms/prepared-text.ts";
import { api, Problem } from "../../api.ts";
import { count as figure } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Field, Input, TextArea } from "../../parts/Field.tsx";
import { More } from "../../parts/More.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Tabs } from "../../parts/Tabs.tsx";
import { say } from "../../parts/Toast.tsx";
import { type Answer, Answers, type SentMessage } from "./Answers.tsx";
import { AsCode } from "./AsCode.tsx";
import { Counter } from "./Counter.tsx";
import {
  type CarrierAlphabet,
  countHex,
  countText,
  hasSmallAlphabet,
  loadTransliteration,
  loadWriting,
  type PartsOver,
  type Transliterate,
} from "./counting.ts";
import {
  type Draft,
  EMPTY_DRAFT,
  type FieldName,
  problemsByField,
  readNumbers,
  requestOf,
  textOptions,
} from "./draft.ts";
import { MoreOptions } from "./MoreOptions.tsx";
import { useQuote } from "./quote.ts";
import { TextEditor } from "./TextEditor.tsx";
import { WayOfNumbers } from "./WayOfNumbers.tsx";
import "./compose.css";

export interface ComposerProps {
  readonly compact?: boolean;
  readonly initial?: Draft;
  /** Told of each message that the service took, or rejected, in the order of the numbers. */
  readonly onSent?: (message: SentMessage) => void;
  /** Told of the numbers as they are typed. */
  readonly onNumbers?: (numbers: readonly string[]) => void;
  /** A number that was chosen beside it: a new object replaces what was typed. */
  readonly chosen?: { readonly to: string } | null;
}

const KINDS = [
  { id: "text", label: "Text" },
  { id: "binary", label: "Binary" },
] as const;
const NAMED_BAD = 3;
/** Fields that stand above those that are folded away, and what is about none. */
const ALWAYS_SEEN: ReadonlySet<FieldName | ""> = new Set(["to", "from", "text", "hex", "dataCoding", "esmClass", ""]);

export function Composer(props: ComposerProps) {
  const { compact = false, initial = EMPTY_DRAFT, onSent = () => {}, onNumbers, chosen = null } = props;
  const [draft, setDraft] = useState(initial);
  const [wrong, setWrong] = useState<ReadonlyMap<FieldName | "", string>>(new Map());
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [busy, setBusy] = useState(false);
  const [transliterate, setTransliterate] = useState<Transliterate | null>(null);

  const change = (changes: Partial<Draft>): void => {
    setDraft((before) => ({ ...before, ...changes }));
    if (wrong.size > 0) setWrong(new Map());
  };

  const { good, bad } = useMemo(() => readNumbers(draft.to), [draft.to]);
  useEffect(() => {
    if (chosen !== null) change(chosen);
  }, [chosen]);
  useEffect(() => onNumbers?.(good), [good]);
  const options = textOptions(draft);
  const counted = useMemo(
    () => countText(draft.text, options, transliterate),
    [draft.text, draft.languageCode, draft.singleShift, draft.lockingShift, draft.transliteration, transliterate],
  );
  const octets = useMemo(
    () => countHex(draft.hex, Number(draft.dataCoding) || 0, Number(draft.esmClass) || 0),
    [draft.hex, draft.dataCoding, draft.esmClass],
  );
  const needsTables = draft.transliteration !== "" || counted.lacking.length > 0;
  useEffect(() => {
    // A function in a state is what makes it, so it is wrapped.
    if (needsTables && transliterate === null)
      void loadTransliteration().then((loaded) => setTransliterate(() => loaded));
  }, [needsTables, transliterate]);

  // A text is priced as its carrier sends it. Which one that is, the last answer says.
  const [carrier, setCarrier] = useState<CarrierAlphabet | null>(null);
  const [partsOver, setPartsOver] = useState<PartsOver | null>(null);
  const textParts = carrier === null || partsOver === null ? counted.partCount : partsOver(counted, carrier);
  const parts = draft.kind === "text" ? textParts : "parts" in octets ? octets.parts : 1;
  const asked = useQuote({ to: good, from: draft.from, parts: Math.min(Math.max(parts, 1), MAX_PARTS) });
  useEffect(() => {
    const possible = asked.quote?.groups.flatMap(({ carriers }) => carriers).filter(({ chance }) => chance > 0) ?? [];
    const [likeliest = null] = possible.toSorted((first, second) => second.chance - first.chance);
    setCarrier(likeliest !== null && hasSmallAlphabet(likeliest) ? likeliest : null);
  }, [asked.quote]);
  useEffect(() => {
    if (carrier !== null && partsOver === null) void loadWriting().then((loaded) => setPartsOver(() => loaded));
  }, [carrier, partsOver]);
  const request = useMemo(() => requestOf(draft), [draft]);

  const send = async (): Promise<void> => {
    if (bad.length > 0) {
      setWrong(new Map([["to", `${bad.slice(0, NAMED_BAD).join(", ")}: a number has ${NUMBER_FORM}.`]]));
      return;
    }
    setBusy(true);
    setWrong(new Map());
    try {
      const sent = await api.post<Answer>(request.path, { ...request.body, includeSmsCountInResponse: true });
      const from = draft.from || (asked.quote?.from ?? "");
      setAnswer({ ...sent, from });
      const rejected = sent.messages.filter(({ status }) => status.groupName === "REJECTED").length;
      say(
        rejected === sent.messages.length
          ? "Nothing was sent: see why below."
          : `Sent to ${figure(sent.messages.length - rejected)} ${sent.messages.length - rejected === 1 ? "number" : "numbers"}.`,
      );
      for (const message of sent.messages) onSent({ ...message, from, bulkId: sent.bulkId });
      asked.again();
    } catch (error) {
      if (error instanceof Problem) setWrong(problemsByField(error.message, error.fields));
      else setWrong(new Map([["", (error as Error).message]]));
    } finally {
      setBusy(false);
    }
  };

  const more = <MoreOptions draft={draft} numbers={good.length} wrong={wrong} change={change} />;
  const code = <AsCode request={request} />;
  return (
    <form
      class={compact ? "compose compact" : "compose"}
      // The service says what is wrong, in the same words for everybody.
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="compose-main stack">
        <div class="compose-addresses">
          <Field label="To" hint={numbersHint(good.length, bad)} wrong={wrong.get("to")}>
            <TextArea
              class="compose-to mono"
              rows={compact ? 1 : 2}
              placeholder="41793026727, 41793026834, …"
              inputMode="tel"
              value={draft.to}
              onInput={(event) => change({ to: event.currentTarget.value })}
            />
          </Field>
          <Field label="From" wrong={wrong.get("from")} hint={compact ? undefined : SENDER_FORM}>
            <Input
              placeholder={asked.quote?.from || "Sender"}
              value={draft.from}
              onInput={(event) => change({ from: event.currentTarget.value })}
            />
          </Field>
        </div>
        {compact ? (
          <TextField draft={draft} change={change} wrong={wrong} counted={counted} />
        ) : (
          <Tabs
            label="Kind of message"
            tabs={KINDS}
            chosen={draft.kind}
            onChoose={(kind) => change({ kind: kind === "binary" ? "binary" : "text" })}
          >
            {draft.kind === "text" ? (
              <TextField draft={draft} change={change} wrong={wrong} counted={counted} />
            ) : (
              <OctetFields draft={draft} change={change} wrong={wrong} />
            )}
          </Tabs>
        )}
        <Counter
          draft={draft}
          counted={counted}
          octets={octets}
          over={carrier !== null && textParts !== counted.partCount ? { ...carrier, parts: textParts } : null}
          transliterate={transliterate}
          quote={asked.quote}
          numbers={good.length}
          change={change}
        />
        <ProblemBox of={wrong.get("")} />
        <div class="row">
          <Button kind="primary" type="submit" busy={busy}>
            Send
          </Button>
          {draft.sendAt !== "" && <span class="soft">It will wait for its time.</span>}
        </div>
        {compact && (
          <>
            <More title="More options" wrong={[...wrong.keys()].some((field) => !ALWAYS_SEEN.has(field))}>
              {more}
            </More>
            <More title="As code">{code}</More>
          </>
        )}
        {answer !== null && !compact && <Answers of={answer} />}
      </div>
      {!compact && (
        <aside class="compose-side stack" aria-label="What would happen">
          <WayOfNumbers quote={asked.quote} problem={asked.problem} numbers={good.length} />
          {code}
        </aside>
      )}
      {!compact && more}
    </form>
  );
}

function numbersHint(good: number, bad: readonly string[]): string | undefined {
  if (good === 0 && bad.length === 0) return undefined;
  const words = `${figure(good)} ${good === 1 ? "number" : "numbers"}`;
  if (bad.length === 0) return good === 1 ? undefined : words;
  const more = bad.length > NAMED_BAD ? ", …" : "";
  return `${words}; not a number: ${bad.slice(0, NAMED_BAD).join(", ")}${more}`;
}

interface PartProps {
  readonly draft: Draft;
  readonly wrong: ReadonlyMap<FieldName | "", string>;
  readonly change: (changes: Partial<Draft>) => void;
}

function TextField({ draft, wrong, change, counted }: PartProps & { counted: ReturnType<typeof countText> }) {
  return (
    <Field label="Text" wrong={wrong.get("text")}>
      <TextEditor value={draft.text} lacking={counted.lacking} onInput={(text) => change({ text })} />
    </Field>
  );
}

function OctetFields({ draft, wrong, change }: PartProps) {
  return (
    <div class="stack">
      <Field label="Octets, in hex" wrong={wrong.get("hex")} hint="Two digits each, with or without spaces">
        <TextArea
          class="mono"
          rows={4}
          spellcheck={false}
          placeholder="0f c2 4a bf 34 13 ba"
          value={draft.hex}
          onInput={(event) => change({ hex: event.currentTarget.value })}
        />
      </Field>
      <div class="compose-pair">
        <Field
          label="Data coding"
          wrong={wrong.get("dataCoding")}
          hint="0 to 255; 0 unless given, 4 for 8 bit data, 8 for UCS-2"
        >
          <Input
            inputMode="numeric"
            placeholder="0"
            value={draft.dataCoding}
            onInput={(event) => change({ dataCoding: event.currentTarget.value })}
          />
        </Field>
        <Field label="ESM class" wrong={wrong.get("esmClass")} hint="64 where the octets begin with a user data header">
          <Input
            inputMode="numeric"
            placeholder="0"
            value={draft.esmClass}
            onInput={(event) => change({ esmClass: event.currentTarget.value })}
          />
        </Field>
      </div>
    </div>
  );
}
