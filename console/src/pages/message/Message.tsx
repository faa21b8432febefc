/** A message: where it stands in one sentence, its life as a timeline, its text, and what can be done with it. */
import "./message.css";
import { ClipboardCopy, RotateCw, Send } from "lucide";
import { useState } from "preact/hooks";
import type { MessageAnswer } from "../../../../src/api/console/message-schemas.ts";
import { searchOf } from "../../../../src/api/console/message-search.ts";
import { messageSentence } from "../../../../src/api/console/message-words.ts";
import { api, withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { Amount } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Id, useCopy } from "../../parts/Copy.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { clockTime, duration } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { useLocation } from "../../router.ts";
import { me } from "../../session.ts";
import { colourOf } from "../messages/state.ts";
import { composeAddress, curlOf, draftOf } from "./again.ts";
import { LinksOf } from "./Links.tsx";
import { encodingWords, TextOf } from "./TextOf.tsx";
import { TimelineOf } from "./Timeline.tsx";

const NOT_FOUND = 404;

export default function Message() {
  const { path } = useLocation();
  const id = decodeURIComponent(path.slice("/messages/".length));
  const { data, problem } = useView<MessageAnswer>("message", { id });
  if (problem?.status === NOT_FOUND)
    return (
      <Page title="Message">
        <Empty title="There is no such message">
          It may be older than messages are kept, or of another account. <a href="/messages">Show all messages</a>.
        </Empty>
      </Page>
    );
  return (
    <Page title={data === null ? "Message" : `Message to ${data.to}`} live actions={data && <Actions message={data} />}>
      <ProblemBox of={problem} />
      {data === null ? problem === null && <Busy /> : <Known message={data} />}
    </Page>
  );
}

function Known({ message }: { message: MessageAnswer }) {
  return (
    <>
      <p class={`message-sentence ${colourOf(message.state)}`}>
        <Status is={colourOf(message.state)}>
          <span class="message-words">{messageSentence(message, { time: clockTime, duration })}</span>
        </Status>
      </p>
      <Facts message={message} />
      <section aria-labelledby="message-timeline">
        <h2 id="message-timeline" class="visually-hidden">
          Timeline
        </h2>
        <TimelineOf message={message} />
      </section>
      <TextOf message={message} />
      <LinksOf message={message} />
    </>
  );
}

function Facts({ message }: { message: MessageAnswer }) {
  const { to, from, parts, encoding, price, bulkId, messageId, account, carrier, flash, notifyUrl } = message;
  return (
    <ul class="message-facts">
      <li>
        to <Id of={to} />
      </li>
      <li>
        from <bdi>{from}</bdi>
      </li>
      <li>
        {parts} {parts === 1 ? "part" : "parts"}, {encodingWords(encoding)}
        {flash && ", flash"}
      </li>
      <li>
        <Amount of={price.charged} currency={price.currency} />
      </li>
      <li>
        bulk <a href={withQuery("/messages", { q: searchOf({ bulk: bulkId }) })}>{bulkId}</a>
      </li>
      <li>
        id <Id of={messageId} />
      </li>
      {me.value?.accountKey !== account && (
        <li>
          account <a href={withQuery("/messages", { q: searchOf({ account }) })}>{account}</a>
        </li>
      )}
      {carrier !== null && (
        <li>
          carrier <a href={withQuery("/messages", { q: searchOf({ carrier }) })}>{carrier}</a>
        </li>
      )}
      {notifyUrl !== null && <li>reports to {notifyUrl}</li>}
    </ul>
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  replayed: "The dead letter is pushed again.",
  hastened: "The report is tried now.",
  "sent anew": "The report is pushed once more, under a new id.",
};

function Actions({ message }: { message: MessageAnswer }) {
  const { id, notifyUrl, doneAt } = message;
  const { copied, copy } = useCopy();
  const [isBusy, setBusy] = useState(false);
  const replay = async (): Promise<void> => {
    setBusy(true);
    try {
      const { outcome } = await api.post<{ outcome: string }>(`/console/1/messages/${encodeURIComponent(id)}/replay`);
      say(OUTCOMES[outcome] ?? outcome);
    } catch (error) {
      say((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {notifyUrl !== null && doneAt !== null && (
        <Button busy={isBusy} onClick={() => void replay()}>
          <Icon of={RotateCw} />
          Replay the report
        </Button>
      )}
      <Button onClick={() => copy(curlOf(message, location.origin))}>
        <Icon of={ClipboardCopy} />
        {copied ? "Copied" : "Copy as curl"}
      </Button>
      <a class="button primary" href={composeAddress(draftOf(message))}>
        <Icon of={Send} />
        Send again
      </a>
    </>
  );
}
