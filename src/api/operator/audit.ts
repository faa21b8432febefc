/** The audit: who changed what. An operator reads all of it, a reseller what was changed of its clients. */
import { auditFacts } from "../../admin/audit-facts.ts";
import { tenantOf } from "../../admin/manager.ts";
import { microsToNumber } from "../../money/amounts.ts";
import { Type } from "../../runtime/type.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { AuditEntry } from "../../store/port/accounts.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readForm, readLimit, readText } from "../query.ts";
import { OptionalText, Text, TextOrNull } from "../shapes.ts";
import { MANAGER, Page, pageOf, pageParameters } from "./managing.ts";

const Facts = (description: string) =>
  Type.Unsafe<object | null>({ type: ["object", "null"], additionalProperties: true, description });

const AuditAnswer = Type.Object({
  id: Type.String(),
  at: Type.String(),
  actor: Text("The key of the account that did it, or command line."),
  address: TextOrNull("Where the request came from. A reseller sees its own."),
  action: Text(
    "create, change, retire, delete, reconnect or try; of funds topUp, takeBack, correction, transfer or writeOff; of a login open, wrongCode or wait.",
  ),
  kind: Text("What kind of thing it was."),
  subject: Text("Which one."),
  before: Facts("What was there, without secrets; amounts in the currency that stands beside them."),
  after: Facts("What is there since."),
});

const AuditQuery = Type.Object({
  kind: OptionalText(
    "Such as account, funds, password, apiKey, carrier or ratePlan. With login: logins, which are told for this kind alone.",
  ),
  subject: OptionalText("Such as an account's key."),
  actor: OptionalText("The key of the account that made the change."),
  ...pageParameters,
});

export function auditOperations(api: Api, { store }: ApiParts): void {
  api.get(
    "/operator/1/audit",
    operation({
      ...MANAGER,
      id: "readAudit",
      summary: "Read who changed what, or who logged in, newest first",
      query: AuditQuery,
      answer: Page(AuditAnswer),
    }),
    async (request) => {
      const fields = fieldsOf(request.query);
      const limit = readLimit(request.query);
      const before = readForm(fields, "after", /^\d{1,15}$/, "must be what the page before gave as next");
      const tenant = tenantOf({ account: accountOf(request) });
      const entries = await store.audit({
        ...tenant,
        kind: readText(fields, "kind"),
        subject: readText(fields, "subject"),
        actor: readText(fields, "actor"),
        beforeId: before === null ? null : Number(before),
        limit: limit + 1,
      });
      const { key } = accountOf(request);
      const show = (entry: AuditEntry) => ({
        ...entry,
        id: String(entry.id),
        at: formatDateTime(entry.atMs),
        // Where the operator sits is none of its resellers' business.
        address: tenant.resellerId === null || entry.actor === key ? entry.address : null,
        before: auditFacts(entry.before, microsToNumber),
        after: auditFacts(entry.after, microsToNumber),
      });
      return pageOf(entries, limit, ({ id }) => String(id), show);
    },
  );
}
