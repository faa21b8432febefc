/** One message through a carrier, past routes and prices: what was asked, what was answered, and its receipt. */
import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Code } from "../../parts/Copy.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input } from "../../parts/Field.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Status } from "../../parts/Status.tsx";

interface TryAnswer {
  /** Why the carrier did not take it. */
  readonly problem: string | null;
  readonly lines: readonly string[];
}

const FIELDS = { to: "To", from: "From", text: "Text" } as const;

export function TryCarrier({ id, onClose }: { id: string; onClose: () => void }) {
  const [asked, setAsked] = useState({ to: "", from: "Heliograph", text: "Hello from Heliograph" });
  const [answer, setAnswer] = useState<TryAnswer | null>(null);
  const work = useAction(
    () => api.post<TryAnswer>(`/console/1/carriers/${encodeURIComponent(id)}/try`, asked),
    setAnswer,
  );
  const wrong = (name: string): string | null =>
    work.problem?.fields.includes(name) === true ? work.problem.message : null;
  return (
    <Dialog title={`Try ${id}`} wide onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setAnswer(null);
          work.run();
        }}
      >
        <p class="soft">
          One message goes through this carrier, past routes and prices. It costs what the carrier asks for it, and no
          account is charged. This takes up to 20 seconds.
        </p>
        {(["to", "from", "text"] as const).map((name) => (
          <Field key={name} label={FIELDS[name]} wrong={wrong(name)}>
            <Input
              value={asked[name]}
              required
              maxLength={160}
              {...(name === "to" ? { placeholder: "41793026727", inputMode: "tel" } : {})}
              onInput={(event) => setAsked({ ...asked, [name]: event.currentTarget.value })}
            />
          </Field>
        ))}
        {work.problem !== null && work.problem.fields.length === 0 && <ProblemBox of={work.problem} />}
        {answer !== null && (
          <div role="status" class="stack">
            <Status is={answer.problem === null ? "done" : "failed"}>
              {answer.problem === null ? "The carrier has taken it" : `It was not taken: ${answer.problem}`}
            </Status>
            {answer.lines.length > 0 && <Code label="What was asked and answered" text={answer.lines.join("\n")} />}
          </div>
        )}
        <div class="dialog-foot">
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" busy={work.busy}>
            Send
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
