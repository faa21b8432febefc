/** All else that a message may say: how it is shown, when it goes, what is told of it, and its names. */
import { useMemo } from "preact/hooks";
import { expiry, firstSendable } from "../../../../src/schedule/sending-time.ts";
import { LANGUAGE_CHOICES } from "../../../../src/sms/encodings.ts";
import { TRANSLITERATIONS } from "../../../../src/sms/transliteration/names.ts";
import { Button } from "../../parts/Button.tsx";
import { Check, Field, Input, Select } from "../../parts/Field.tsx";
import { clockTime, exactTime, now } from "../../parts/Time.tsx";
import { languageName } from "./counting.ts";
import { DayWindow } from "./DayWindow.tsx";
import { type Draft, type FieldName, localInput, sendAtOf } from "./draft.ts";

export interface MoreOptionsProps {
  readonly draft: Draft;
  /** How many it goes to. */
  readonly numbers: number;
  readonly wrong: ReadonlyMap<FieldName | "", string>;
  readonly change: (changes: Partial<Draft>) => void;
}

const TRANSLITERATION_WORDS: Readonly<Record<(typeof TRANSLITERATIONS)[number], string>> = {
  TURKISH: "Turkish letters",
  GREEK: "Greek",
  CYRILLIC: "Cyrillic",
  SERBIAN_CYRILLIC: "Cyrillic, Serbian",
  BULGARIAN_CYRILLIC: "Cyrillic, Bulgarian",
  CENTRAL_EUROPEAN: "Central European letters",
  BALTIC: "Baltic letters",
  PORTUGUESE: "Portuguese letters",
  COLOMBIAN: "Spanish letters (Colombia)",
  NON_UNICODE: "All that is not GSM",
  ALL: "The letters of all these",
  NONE: "None",
};

/** That nothing is said, which is what NONE says: that one is offered only to a draft that has it. */
const NOTHING = { value: "", label: "None" };
const isOffered =
  (chosen: string) =>
  (value: string): boolean =>
    value !== "NONE" || chosen === "NONE";
const HOUR_MS = 3_600_000;
const LATER = [
  { label: "in an hour", ms: HOUR_MS },
  { label: "tomorrow", ms: 24 * HOUR_MS },
];

export function MoreOptions({ draft, numbers, wrong, change }: MoreOptionsProps) {
  return (
    <div class="compose-more">
      {draft.kind === "text" && (
        <section class="panel stack" aria-label="How it is written">
          <h2>How it is written</h2>
          <div class="compose-pair">
            <Field label="Language" wrong={wrong.get("language")} hint="Its letters in the 7 bit alphabet">
              <Select
                value={draft.languageCode}
                options={[
                  NOTHING,
                  ...LANGUAGE_CHOICES.filter(isOffered(draft.languageCode)).map((value) => ({
                    value,
                    label: languageName(value),
                  })),
                ]}
                onChoose={(code) => change({ languageCode: LANGUAGE_CHOICES.find((known) => known === code) ?? "" })}
              />
            </Field>
            <Field
              label="Transliteration"
              wrong={wrong.get("transliteration")}
              hint="Other letters become those of GSM"
            >
              <Select
                value={draft.transliteration}
                options={[
                  NOTHING,
                  ...TRANSLITERATIONS.filter(isOffered(draft.transliteration)).map((value) => ({
                    value,
                    label: TRANSLITERATION_WORDS[value],
                  })),
                ]}
                onChoose={(name) => change({ transliteration: TRANSLITERATIONS.find((known) => known === name) ?? "" })}
              />
            </Field>
          </div>
          {draft.languageCode !== "" && draft.languageCode !== "NONE" && (
            <div class="row">
              <Check checked={draft.singleShift} onChange={(singleShift) => change({ singleShift })}>
                Single shift table
              </Check>
              <Check checked={draft.lockingShift} onChange={(lockingShift) => change({ lockingShift })}>
                Locking shift table
              </Check>
            </div>
          )}
          <Check checked={draft.flash} onChange={(flash) => change({ flash })}>
            Flash: shown on the phone at once, and not kept
          </Check>
        </section>
      )}
      <When draft={draft} wrong={wrong} change={change} />
      <section class="panel stack" aria-label="What is told of it">
        <h2>What is told of it</h2>
        <Field
          label="Reports go to"
          wrong={wrong.get("notifyUrl")}
          hint="An address of yours; without one you fetch them"
        >
          <Input
            type="url"
            placeholder="https://example.com/reports"
            value={draft.notifyUrl}
            onInput={(event) => change({ notifyUrl: event.currentTarget.value })}
          />
        </Field>
        <div class="compose-pair">
          <Field label="As" wrong={wrong.get("notifyContentType")}>
            <Select
              value={draft.notifyContentType}
              options={[
                { value: "", label: "JSON (unless said otherwise)" },
                { value: "application/json", label: "application/json" },
                { value: "application/xml", label: "application/xml" },
              ]}
              onChoose={(notifyContentType) => change({ notifyContentType })}
            />
          </Field>
          <Field label="Callback data" wrong={wrong.get("callbackData")} hint="Comes back in the report">
            <Input
              value={draft.callbackData}
              onInput={(event) => change({ callbackData: event.currentTarget.value })}
            />
          </Field>
        </div>
        <Check checked={draft.intermediateReport} onChange={(intermediateReport) => change({ intermediateReport })}>
          Also report changes that are not final
        </Check>
      </section>
      <section class="panel stack" aria-label="Its names">
        <h2>Its names</h2>
        <div class="compose-pair">
          <Field label="Bulk id" wrong={wrong.get("bulkId")} hint="The same request with it is not sent twice">
            <Input value={draft.bulkId} onInput={(event) => change({ bulkId: event.currentTarget.value })} />
          </Field>
          <Field
            label="Message id"
            wrong={wrong.get("messageId")}
            hint={numbers > 1 ? "Only with one number" : "One of your own"}
          >
            <Input
              value={draft.messageId}
              disabled={numbers > 1}
              onInput={(event) => change({ messageId: event.currentTarget.value })}
            />
          </Field>
        </div>
        <Field label="Campaign" wrong={wrong.get("campaignReferenceId")} hint="Comes back in reports and logs">
          <Input
            value={draft.campaignReferenceId}
            onInput={(event) => change({ campaignReferenceId: event.currentTarget.value })}
          />
        </Field>
      </section>
    </div>
  );
}

function When({ draft, wrong, change }: Omit<MoreOptionsProps, "numbers">) {
  const utc = draft.sendAt === "" ? null : sendAtOf(draft.sendAt);
  const zone = useMemo(() => Intl.DateTimeFormat().resolvedOptions().timeZone, []);
  return (
    <section class="panel stack" aria-label="When it goes">
      <h2>When it goes</h2>
      <div class="compose-pair">
        <Field
          label="Send at"
          wrong={wrong.get("sendAt")}
          hint={utc === null ? `At once, unless you say when (${zone})` : `${utc.slice(0, 16).replace("T", " ")} UTC`}
        >
          <Input
            type="datetime-local"
            value={draft.sendAt}
            onInput={(event) => change({ sendAt: event.currentTarget.value })}
          />
        </Field>
        <Field label="Valid for" wrong={wrong.get("validityPeriod")} hint="Minutes; 48 hours unless given">
          <Input
            inputMode="numeric"
            placeholder="2880"
            value={draft.validityPeriod}
            onInput={(event) => change({ validityPeriod: event.currentTarget.value })}
          />
        </Field>
      </div>
      <div class="row">
        {LATER.map(({ label, ms }) => (
          <Button key={label} small onClick={() => change({ sendAt: localInput(now.peek() + ms) })}>
            {label}
          </Button>
        ))}
        {draft.sendAt !== "" && (
          <Button small kind="quiet" onClick={() => change({ sendAt: "" })}>
            at once
          </Button>
        )}
      </div>
      <DayWindow value={draft.window} wrong={wrong.get("window")} onChange={(window) => change({ window })} />
      <Until draft={draft} />
    </section>
  );
}

/** From when and until when it may go, as the service would reckon it. */
function Until({ draft }: { draft: Draft }) {
  if (draft.sendAt === "" && draft.window === null && draft.validityPeriod === "") return null;
  const nowMs = now.value;
  const sendAtMs = draft.sendAt === "" ? null : new Date(draft.sendAt).getTime();
  if (sendAtMs !== null && Number.isNaN(sendAtMs)) return null;
  const first = firstSendable({ nowMs, sendAtMs, window: draft.window });
  const minutes = Number(draft.validityPeriod);
  const last = expiry(first, Number.isInteger(minutes) && minutes > 0 ? minutes : null);
  return (
    <p class="soft">
      {first <= nowMs ? (
        "It goes at once"
      ) : (
        <>
          It goes on <time title={exactTime(first)}>{clockTime(first, nowMs)}</time>
        </>
      )}
      , and is tried until <time title={exactTime(last)}>{clockTime(last, nowMs)}</time> on your clock.
    </p>
  );
}
