/** The sandbox's first page: write a message, see it land on a phone, and read what happened on its way. */
import { MessageSquareText } from "lucide";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { MessageAnswer } from "../../../../src/api/console/message-schemas.ts";
import { messageSentence } from "../../../../src/api/console/message-words.ts";
import { useView } from "../../live.ts";
import { Field, Select } from "../../parts/Field.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { clockTime, duration } from "../../parts/Time.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { answerWords, type SentMessage } from "../compose/Answers.tsx";
import { Composer } from "../compose/Composer.tsx";
import { EMPTY_DRAFT } from "../compose/draft.ts";
import { TimelineOf } from "../message/Timeline.tsx";
import { colourOf } from "../messages/state.ts";
import { MagicNumbers } from "../phones/MagicNumbers.tsx";
import { Phone } from "../phones/Phone.tsx";
import { FIRST_PHONE } from "../phones/sandbox.ts";
import "./start.css";

const FIRST_DRAFT = {
  ...EMPTY_DRAFT,
  to: FIRST_PHONE,
  from: "Heliograph",
  text: "Hello from my own phone network",
};

const PAUSE_MS = 400;
/** Phones to choose from. */
const MAX_CHOICES = 100;

export default function Start() {
  const { query } = useLocation();
  const [numbers, setNumbers] = useState<readonly string[]>([]);
  const [chosen, setChosen] = useState<{ readonly to: string } | null>(null);
  const [rejected, setRejected] = useState<string | null>(null);
  const [number, setNumber] = useState(FIRST_PHONE);
  const initial = useMemo(() => FIRST_DRAFT, []);
  // Every phone that is shown is a stream of its own, so not each key that is typed is one.
  useEffect(() => {
    const [first] = numbers;
    if (first === undefined || numbers.includes(number)) return;
    const timer = setTimeout(() => setNumber(first), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [numbers, number]);
  const sent = (message: SentMessage): void => {
    const { messageId, to, status } = message;
    const isRejected = status.groupName === "REJECTED";
    setRejected(isRejected ? `To ${to}: ${answerWords(message, message.from)}.` : null);
    setNumber(to);
    if (messageId !== undefined) setQuery({ message: messageId });
  };
  return (
    <Page title="Start" live>
      <div class="start">
        <section class="panel start-compose" aria-label="Compose">
          <Composer compact initial={initial} chosen={chosen} onNumbers={setNumbers} onSent={sent} />
        </section>
        <div class="start-phone">
          {numbers.length > 1 && (
            <Field label="Phone">
              <Select
                value={number}
                options={[...new Set([number, ...numbers])].slice(0, MAX_CHOICES)}
                onChoose={setNumber}
              />
            </Field>
          )}
          <Phone key={number} number={number} />
        </div>
        <section class="start-happened stack" aria-labelledby="start-happened">
          <h2 id="start-happened">What just happened</h2>
          <ProblemBox of={rejected} />
          {query.message === undefined ? <Nothing /> : <Happened id={query.message} />}
        </section>
        <div class="start-magic">
          <MagicNumbers verb="Send to" onChoose={(to) => setChosen({ to })} />
        </div>
      </div>
    </Page>
  );
}

function Nothing() {
  return (
    <Empty title="Press Send" icon={MessageSquareText}>
      The message goes the whole way: it is priced, routed, handed to a carrier, delivered to the phone, and its report
      comes back. Each step is shown here as it happens.
    </Empty>
  );
}

function Happened({ id }: { id: string }) {
  const { data, problem } = useView<MessageAnswer>("message", { id });
  if (data === null) return problem === null ? <Busy /> : <ProblemBox of={problem} />;
  return (
    <>
      <p class="start-sentence">
        <Status is={colourOf(data.state)}>
          <span>{messageSentence(data, { time: clockTime, duration })}</span>
        </Status>{" "}
        <a href={`/messages/${data.id}`}>All of it</a>
      </p>
      <TimelineOf message={data} />
    </>
  );
}
