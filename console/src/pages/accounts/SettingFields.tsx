/** The fields of what can be set of an account, for a new one and for a change. */
import type { Problem } from "../../api.ts";
import { useView } from "../../live.ts";
import { Field, Input, Select, TextArea } from "../../parts/Field.tsx";
import type { SettingTexts } from "./account.ts";
import { PlanPrices } from "./PlanPrices.tsx";

export interface SettingFieldsProps {
  readonly texts: SettingTexts;
  readonly onChange: (change: Partial<SettingTexts>) => void;
  readonly problem: Problem | null;
  readonly currency: string;
}

/** What is wrong with a field, by its name in the request. */
export function wrongIn(problem: Problem | null, field: string): string | null {
  const named = problem?.fields.some((name) => name === field || name.startsWith(`${field}[`)) ?? false;
  return named ? problem!.message : null;
}

const SETTINGS =
  /^(ratePlan|creditLimit|defaultSender|allowedSenders|allowedAddresses|limits\.|alert\.|retryMinutes|currency)/;
const NAMES = /^(key|username|password|parent|openingBalance)/;

/** Whether it is said at one of these fields. */
export function isSetting(problem: Problem | null): boolean {
  return problem?.fields.some((field) => SETTINGS.test(field)) ?? false;
}

/** Whether a form has a field to say it at. */
export function isPlaced(problem: Problem | null): boolean {
  return isSetting(problem) || (problem?.fields.some((field) => NAMES.test(field)) ?? false);
}

export function SettingFields({ texts, onChange, problem, currency }: SettingFieldsProps) {
  const plans = useView<{ results: readonly { id: string; currency: string }[] }>("rate-plans").data?.results ?? [];
  const input = (name: keyof SettingTexts) => ({
    value: texts[name],
    onInput: (event: { currentTarget: { value: string } }) => onChange({ [name]: event.currentTarget.value }),
  });
  const number = { inputMode: "numeric" as const, placeholder: "as the service" };
  const known = plans.some(({ id }) => id === texts.ratePlan) || texts.ratePlan === "";
  return (
    <>
      <div class="accounts-fields">
        <Field label="Rate plan" hint="Which prices it pays." wrong={wrongIn(problem, "ratePlan")}>
          <Select
            value={texts.ratePlan}
            options={[
              ...(known ? [] : [texts.ratePlan]),
              ...plans.map((plan) => ({ value: plan.id, label: `${plan.id} (${plan.currency})` })),
            ]}
            onChoose={(ratePlan) => onChange({ ratePlan })}
          />
        </Field>
        <Field
          label={`Credit limit${currency === "" ? "" : `, ${currency}`}`}
          hint="How far below zero the balance may go."
          wrong={wrongIn(problem, "creditLimit")}
        >
          <Input inputMode="decimal" placeholder="0" {...input("creditLimit")} />
        </Field>
        <Field label="Requests a second" wrong={wrongIn(problem, "limits.requestsPerSecond")}>
          <Input {...number} {...input("requestsPerSecond")} />
        </Field>
        <Field label="Messages a second" wrong={wrongIn(problem, "limits.messagesPerSecond")}>
          <Input {...number} {...input("messagesPerSecond")} />
        </Field>
        <Field label="Requests in progress at a time" wrong={wrongIn(problem, "limits.connections")}>
          <Input {...number} {...input("connections")} />
        </Field>
        <Field label="Destinations in a request" wrong={wrongIn(problem, "limits.destinationsPerRequest")}>
          <Input {...number} {...input("destinationsPerRequest")} />
        </Field>
        <Field label="Default sender" hint="Of messages that name none." wrong={wrongIn(problem, "defaultSender")}>
          <Input {...input("defaultSender")} />
        </Field>
        <Field
          label="Retries of reports, minutes"
          hint="How long each waits, such as 1, 5, 60. Empty for the service's schedule."
          wrong={wrongIn(problem, "retryMinutes")}
        >
          <Input {...input("retryMinutes")} />
        </Field>
        <Field label="Allowed senders" hint="One a line. Empty for any." wrong={wrongIn(problem, "allowedSenders")}>
          <TextArea class="accounts-lines" {...input("allowedSenders")} />
        </Field>
        <Field
          label="Allowed networks"
          hint="One a line, such as 192.0.2.0/24. Empty for anywhere."
          wrong={wrongIn(problem, "allowedAddresses")}
        >
          <TextArea class="accounts-lines" {...input("allowedAddresses")} />
        </Field>
        <Field
          label="Alert below"
          hint="Tells a URL when the balance goes below this."
          wrong={wrongIn(problem, "alert.below")}
        >
          <Input inputMode="decimal" {...input("alertBelow")} />
        </Field>
        <Field label="URL of the alert" wrong={wrongIn(problem, "alert.url")}>
          <Input type="url" {...input("alertUrl")} />
        </Field>
      </div>
      <PlanPrices plan={texts.ratePlan} />
    </>
  );
}
