/** The phones of the sandbox: a list of those with something on them, the chosen one drawn, and what can be made of their network. */
import { Plus } from "lucide";
import { useState } from "preact/hooks";
import { NUMBER_FORM } from "../../../../src/sms/addresses.ts";
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { Input } from "../../parts/Field.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { navigate, useLocation } from "../../router.ts";
import { MagicNumbers } from "./MagicNumbers.tsx";
import { NetworkPanel } from "./NetworkPanel.tsx";
import { Phone } from "./Phone.tsx";
import { FIRST_PHONE, isNumber, type PhoneList, plainNumber, setPhone } from "./sandbox.ts";
import "./phones.css";

export default function Phones() {
  const { path } = useLocation();
  const { data, problem } = useView<PhoneList>("phones");
  const named = path.split("/")[2] ?? "";
  const number = isNumber(named) ? named : (data?.phones[0]?.number ?? FIRST_PHONE);
  return (
    <Page
      title="Phones"
      live
      actions={
        <a class="button" href={`/compose?to=${number}`}>
          Send to this phone
        </a>
      }
    >
      <ProblemBox of={problem} />
      <div class="phones">
        <div class="phones-list">
          <AddPhone />
          {data === null ? <Busy /> : <List list={data} chosen={number} />}
        </div>
        {data === null && named === "" ? null : <Phone key={number} number={number} />}
        <div class="phones-side">
          <NetworkPanel />
          <MagicNumbers verb="Look at" onChoose={(each) => navigate(`/phones/${each}`)} />
        </div>
      </div>
    </Page>
  );
}

function List({ list, chosen }: { list: PhoneList; chosen: string }) {
  if (list.phones.length === 0) {
    return (
      <p class="soft">
        Every number is a phone. <a href={`/compose?to=${chosen}`}>Send a message</a> and it is listed here; what phones
        show is kept in memory until the service is stopped.
      </p>
    );
  }
  return (
    <ul aria-label="Phones with messages">
      {list.phones.map(({ number, state, last, messageCount }) => (
        <li key={number}>
          <a href={`/phones/${number}`} aria-current={number === chosen ? "true" : undefined}>
            <span class="row spread">
              <b class="mono">{number}</b>
              <span class="phones-when">{last !== null && <Time at={last.at} />}</span>
            </span>
            <span class="phones-last" dir="auto">
              {last === null ? "Nothing has arrived yet." : last.text}
            </span>
            <span class="phones-facts">
              {messageCount === 1 ? "1 message" : `${messageCount} messages`}
              {state !== "on" && ` · ${state}`}
            </span>
          </a>
        </li>
      ))}
      {list.more && <li class="soft phones-more">Others were used longer ago: add one by its number to see it.</li>}
    </ul>
  );
}

function AddPhone() {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  const add = (): void => {
    const number = plainNumber(text);
    if (!isNumber(number)) {
      setWrong(`A number has ${NUMBER_FORM}.`);
      return;
    }
    setPhone(number).then(
      () => {
        setText("");
        setWrong(null);
        navigate(`/phones/${number}`);
      },
      (error: Error) => setWrong(error.message),
    );
  };
  return (
    <form
      class="phones-add"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <Input
        aria-label="Add a phone by its number"
        placeholder="Add a phone by number"
        inputMode="tel"
        value={text}
        aria-invalid={wrong !== null}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" aria-label="Add the phone">
        <Icon of={Plus} />
      </Button>
      {wrong !== null && (
        <p class="phones-wrong" role="alert">
          {wrong}
        </p>
      )}
    </form>
  );
}
