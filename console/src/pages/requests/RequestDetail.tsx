/** One request: what was sent, what was answered, why, and what to do. */
import { ArrowLeft, Lightbulb } from "lucide";
import type { ComponentChildren } from "preact";
import { type Query, withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { Code, Id } from "../../parts/Copy.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { duration, exactTime, Time } from "../../parts/Time.tsx";
import { type RequestDetail as Detail, doorOf, shortPath, stateOf } from "./request.ts";

export function RequestDetail({ id, list }: { id: string; list: Query }) {
  const { data, problem } = useView<Detail>("request", { id, whose: list.whose });
  const title = data === null ? "Request" : `${data.method} ${shortPath(data.path)}`;
  return (
    <Page
      title={title}
      heading={<span class="mono requests-title">{title}</span>}
      actions={
        <a class="button" href={withQuery("/requests", list)}>
          <Icon of={ArrowLeft} />
          All requests
        </a>
      }
    >
      <ProblemBox of={problem} />
      {data === null ? problem === null && <Busy /> : <Shown of={data} />}
    </Page>
  );
}

function Shown({ of }: { of: Detail }) {
  const { is, word } = stateOf(of);
  return (
    <div class="requests stack">
      <p class="requests-sentence">
        <Status is={is} badge>
          {of.status} {word}
        </Status>
        <span>{of.reason ?? `It was answered in ${duration(of.durationMs)}.`}</span>
      </p>
      {of.advice !== null && (
        <p class="requests-advice">
          <Icon of={Lightbulb} />
          <span>
            <strong>What to do</strong> {of.advice}
          </span>
        </p>
      )}
      <dl class="requests-facts">
        <Fact name="When">
          <Time at={of.at} /> <span class="soft">{exactTime(of.at)}</span>
        </Fact>
        <Fact name="Request">
          <span class="mono requests-path">
            {of.method} {of.path}
          </span>
        </Fact>
        {of.error !== null && (
          <Fact name="Error">
            <span class="mono">{of.error}</span>
          </Fact>
        )}
        {of.fields.length > 0 && (
          <Fact name={of.fields.length === 1 ? "Field" : "Fields"}>
            <span class="mono">{of.fields.join(", ")}</span>
          </Fact>
        )}
        <Fact name="Caller">{doorOf(of)}</Fact>
        <Fact name="From">
          <Id of={of.from} />
        </Fact>
        <Fact name="Took">{duration(of.durationMs)}</Fact>
      </dl>
      <h2>Body</h2>
      {of.body === null ? (
        <p class="soft">It had none.</p>
      ) : (
        <>
          <Code text={pretty(of.body.text)} label="Body of the request" />
          <p class="soft">
            {of.body.isWhole
              ? `${of.body.octets} octets.`
              : `The first 2,048 of ${of.body.octets} octets; the rest is not kept.`}{" "}
            Passwords, codes and keys are masked
            {of.body.hasTexts ? "." : ", and so is what messages say: [console] requestTexts shows it."}
          </p>
        </>
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** JSON with its lines; anything else as it came. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
