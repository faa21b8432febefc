/**
 * Why an account's messages fail, for whoever manages it. A reseller sees how many and why. Texts are shown to nobody here, and phone numbers to those
 * who may see the account's messages.
 */
import { type FailureReason, failuresOf, MAX_EXAMINED, reasonWords } from "../../admin/failures.ts";
import { Type } from "../../runtime/type.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { countryOf } from "../../sms/countries.ts";
import { findError } from "../../sms/errors.ts";
import { statusById } from "../../sms/statuses.ts";
import type { FoundMessage } from "../../store/port/message-search.ts";
import { badField } from "../errors.ts";
import { Mutex } from "../mutex.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readDay } from "../query.ts";
import { Flag, OptionalText, Text, TextOrNull, Whole } from "../shapes.ts";
import { MANAGER, managedAccount } from "./managing.ts";

const DAY_MS = 24 * 60 * 60_000;

const ExampleAnswer = Type.Object(
  {
    id: Text("The service's own name of the message."),
    at: Text("When it was sent, or came if it was not."),
    doneAt: TextOrNull("When it failed."),
    country: TextOrNull("Of the phone; ISO 3166-1."),
    to: TextOrNull("The phone's number; null for a reseller who may not see its clients' messages."),
  },
  { title: "FailedMessage" },
);
const ReasonAnswer = Type.Object(
  {
    reason: Text("In words."),
    status: Text("The name of the status, as in reports."),
    error: TextOrNull("The name of the error, as in reports; null where the status says all."),
    permanent: Flag("Whether sending again to the same number fails again."),
    count: Type.Integer(),
    latest: Type.Array(ExampleAnswer, { description: "The newest of them, newest first." }),
  },
  { title: "FailureReason" },
);
const FailuresAnswer = Type.Object(
  {
    account: Type.String(),
    from: Type.String(),
    to: Type.String(),
    messages: Whole("Messages of the time that were looked at, from the newest back."),
    failed: Whole("How many of them failed."),
    complete: Flag(`Whether those were all of the time: at most ${MAX_EXAMINED} are looked at.`),
    results: Type.Array(ReasonAnswer, { description: "The most frequent first." }),
  },
  { title: "Failures" },
);
const FailuresQuery = Type.Object({
  from: OptionalText("The beginning of the time, a day or a moment; a day before its end unless given."),
  to: OptionalText("Its end; now unless given."),
});

export function failureOperations(api: Api, { store, clock, settings }: ApiParts): void {
  // However many ask, the store has one page of them at a time.
  const mutex = new Mutex();

  api.get(
    "/operator/1/accounts/:key/failures",
    operation({
      ...MANAGER,
      id: "readFailures",
      summary: "Read why an account's messages fail: how many for which reason, and the latest of each",
      query: FailuresQuery,
      answer: FailuresAnswer,
    }),
    async (request) => {
      const fields = fieldsOf(request.query);
      const untilMs = readDay(fields, "to") ?? clock.now();
      const sinceMs = readDay(fields, "from") ?? untilMs - DAY_MS;
      if (untilMs < sinceMs) throw badField("to", "must not be before from");
      const account = await managedAccount(store, request);
      const reader = accountOf(request);
      const seesNumbers = reader.kind === "operator" || settings.resellers.clientMessages;
      const found = await mutex.search(reader.id, (take) =>
        failuresOf((search) => take(() => store.findMessages(search)), { accountId: account.id, sinceMs, untilMs }),
      );
      return {
        account: account.key,
        from: formatDateTime(sinceMs),
        to: formatDateTime(untilMs),
        messages: found.examined,
        failed: found.failed,
        complete: found.isWhole,
        results: found.reasons.map((reason) => reasonAnswer(reason, seesNumbers)),
      };
    },
  );
}

function reasonAnswer(reason: FailureReason, seesNumbers: boolean) {
  const error = reason.errorId === 0 ? undefined : findError(reason.errorId);
  const example = ({ key, atMs, doneAtMs, to }: FoundMessage) => ({
    id: key,
    at: formatDateTime(atMs),
    doneAt: doneAtMs === null ? null : formatDateTime(doneAtMs),
    country: countryOf(to),
    to: seesNumbers ? to : null,
  });
  return {
    reason: reasonWords(reason),
    status: statusById(reason.statusId).name,
    error: error?.name ?? null,
    permanent: error?.permanent ?? false,
    count: reason.count,
    latest: reason.latest.map(example),
  };
}
