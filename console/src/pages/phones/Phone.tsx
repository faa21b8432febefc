/** A handset as one holds it: its number, the time, what arrived as bubbles, a flash message over it, and a line to write back. */
import { ArrowUp, PhoneOff, Zap } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { useAction } from "../../parts/Dialog.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { clockTime, exactTime, now } from "../../parts/Time.tsx";
import { useChosen } from "./chosen.ts";
import { useFlash } from "./flash.ts";
import {
  PHONE_STATES,
  type PhoneAnswer,
  type PhoneMessage,
  type PhoneState,
  type SandboxAnswer,
  setPhone,
  writeBack,
} from "./sandbox.ts";
import "./phone.css";

/** Bars of the signal, and what the phone says of itself. */
const STATES: Readonly<Record<PhoneState, { bars: number; says: string | null }>> = {
  on: { bars: 4, says: null },
  off: { bars: 0, says: "Switched off. Messages wait until it is on again." },
  full: { bars: 4, says: "Memory full. It takes no message." },
  abroad: { bars: 2, says: "Abroad. Messages take longer, over another network." },
  unknown: { bars: 0, says: "No such subscriber. Messages fail." },
};

const minutes = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });

export function Phone({ number }: { number: string }) {
  const { data, problem } = useView<PhoneAnswer>("phone", { number });
  const {
    shown: state,
    problem: switchProblem,
    choose,
  } = useChosen<PhoneState>(data?.state ?? "on", (wanted) => setPhone(number, wanted));
  const messages = data?.messages ?? [];
  const { flash, dismiss } = useFlash(number, messages);
  const { bars, says } = STATES[state];
  const isOff = state === "off";
  return (
    <section class="phone" aria-label={`Phone ${number}`} data-state={state}>
      <ProblemBox of={problem} />
      <div class="phone-shell">
        <div class="phone-screen">
          <div class="phone-bar" aria-hidden="true">
            <span class="phone-clock">{minutes.format(now.value)}</span>
            <span class="phone-island" />
            <span class="phone-signs">
              {state === "abroad" && <span class="phone-roams">R</span>}
              <Signal bars={bars} />
              <span class="phone-battery" />
            </span>
          </div>
          <h2 class="phone-title mono">{number}</h2>
          {says !== null && state !== "off" && <p class="phone-says">{says}</p>}
          <div class="phone-body" inert={isOff || flash !== null}>
            <Messages
              number={number}
              messages={flash === null ? messages : messages.filter(({ place }) => place !== flash.place)}
            />
            <WriteBack number={number} isOff={isOff} />
          </div>
          {flash !== null && !isOff && <Flash message={flash} onDismiss={dismiss} />}
          {isOff && (
            <div class="phone-off">
              <Icon of={PhoneOff} size={28} />
              <b class="mono">{number}</b>
              <p>{says}</p>
              <Button small onClick={() => choose("on")}>
                Switch it on
              </Button>
            </div>
          )}
        </div>
      </div>
      <PhoneSwitch number={number} state={state} problem={switchProblem} onChoose={choose} />
    </section>
  );
}

function Signal({ bars }: { bars: number }) {
  return (
    <span class="phone-signal">
      {[1, 2, 3, 4].map((bar) => (
        <i key={bar} class={bar <= bars ? "is-on" : ""} />
      ))}
    </span>
  );
}

function Messages({ number, messages }: { number: string; messages: readonly PhoneMessage[] }) {
  const list = useRef<HTMLDivElement>(null);
  const last = messages.at(-1)?.place ?? 0;
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [last]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <div class="phone-messages" role="log" aria-label="Messages" tabIndex={0} ref={list}>
      {messages.length === 0 && (
        <p class="phone-empty">
          Nothing is on it. A phone forgets when the service is started anew, or others are used for long: all that was
          sent to it is among <a href={withQuery("/messages", { q: `to:${number}` })}>its messages</a>.
        </p>
      )}
      {messages.map((message, index) => (
        <Bubble key={message.place} message={message} isFollowing={isFollowing(messages[index - 1], message)} />
      ))}
    </div>
  );
}

/** One after another of the same sender has its name once. */
function isFollowing(before: PhoneMessage | undefined, message: PhoneMessage): boolean {
  return before?.direction === message.direction && before.peer === message.peer;
}

function Bubble({ message, isFollowing }: { message: PhoneMessage; isFollowing: boolean }) {
  const { direction, peer, text, at, parts, flash, binary, dataCoding, clipped, messageKey } = message;
  const facts = [
    ...(parts > 1 ? [`${parts} parts`] : []),
    ...(binary ? [`data coding ${dataCoding}`] : []),
    ...(flash ? ["flash"] : []),
  ];
  return (
    <div class={`phone-message ${direction}`}>
      {!isFollowing && (
        <span class="phone-peer">
          {direction === "written" && "to "}
          <bdi>{peer}</bdi>
        </span>
      )}
      <p class={binary ? "phone-bubble mono" : "phone-bubble"} dir="auto">
        {text}
        {clipped && "…"}
      </p>
      <span class="phone-meta">
        {flash && (
          <>
            <Icon of={Zap} size={11} />{" "}
          </>
        )}
        <time dateTime={at} title={exactTime(at)}>
          {clockTime(at, now.value)}
        </time>
        {facts.map((fact) => ` · ${fact}`).join("")}
        {messageKey !== null && (
          <>
            {" · "}
            <a href={`/messages/${messageKey}`} aria-label={`why: the message that arrived at ${clockTime(at)}`}>
              why
            </a>
          </>
        )}
      </span>
    </div>
  );
}

function Flash({ message, onDismiss }: { message: PhoneMessage; onDismiss: () => void }) {
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    shown.current?.querySelector("button")?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [message.place]);
  return (
    <div
      class="phone-flash"
      role="alertdialog"
      aria-label={`Flash message from ${message.peer}`}
      ref={shown}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // The page goes back on this key.
        event.preventDefault();
        event.stopPropagation();
        onDismiss();
      }}
    >
      <div>
        <span class="phone-peer">
          <Icon of={Zap} size={12} /> <bdi>{message.peer}</bdi>
        </span>
        <p dir="auto">{message.text}</p>
        <Button small onClick={onDismiss}>
          Dismiss
        </Button>
      </div>
    </div>
  );
}

function WriteBack({ number, isOff }: { number: string; isOff: boolean }) {
  const { data } = useView<SandboxAnswer>("sandbox");
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const numbers = data?.numbers ?? [];
  const to = chosen !== null && numbers.includes(chosen) ? chosen : numbers[0];
  const { busy, problem, run } = useAction(
    () => writeBack(number, to!, text),
    () => setText(""),
  );
  if (data !== null && to === undefined)
    return <p class="phone-no-number">This account has no number that the phone could write to.</p>;
  return (
    <form
      class="phone-write"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== "" && to !== undefined && !busy) run();
      }}
    >
      {problem && (
        <p class="phone-wrong" role="alert">
          {problem.message}
        </p>
      )}
      {numbers.length > 1 && (
        <select aria-label="Write to" value={to} onChange={(event) => setChosen(event.currentTarget.value)}>
          {numbers.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
      <input
        value={text}
        dir="auto"
        maxLength={10_000}
        disabled={isOff}
        aria-label={`Write from ${number}${to === undefined ? "" : ` to ${to}`}`}
        placeholder={to === undefined ? "Write back…" : `Write to ${to}…`}
        autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" aria-label="Send from the phone" disabled={isOff || text === "" || busy}>
        <Icon of={ArrowUp} size={16} />
      </button>
    </form>
  );
}

interface PhoneSwitchProps {
  readonly number: string;
  readonly state: PhoneState;
  readonly problem: Error | null;
  readonly onChoose: (wanted: PhoneState) => void;
}

function PhoneSwitch({ number, state, problem, onChoose }: PhoneSwitchProps) {
  return (
    <div class="phone-switch">
      <fieldset>
        <legend class="visually-hidden">Phone {number} is</legend>
        {PHONE_STATES.map((each) => (
          <label
            key={each}
            class={each === state ? "is-chosen" : ""}
            title={STATES[each].says ?? "On. It takes what it gets."}
          >
            <input
              type="radio"
              name={`state-${number}`}
              value={each}
              checked={each === state}
              onChange={() => onChoose(each)}
            />
            {each}
          </label>
        ))}
      </fieldset>
      <ProblemBox of={problem} />
    </div>
  );
}
