/** What the pages Bulks, Reports and Incoming look at: an account's own, and of reports everybody's for an operator. */
import { formRules } from "../../message/report-form.ts";
import { bodyOf } from "../../reports/rendering/report-body.ts";
import { timeOfId } from "../../runtime/ids.ts";
import { shownUrl } from "../../runtime/shown-url.ts";
import { Type } from "../../runtime/type.ts";
import type { Account } from "../../store/port/accounts.ts";
import { BULK_STATUSES, type BulkPosition, type ListedBulk } from "../../store/port/bulks.ts";
import { MAX_COUNTED_REPORTS, type ReportDetail, type ReportHost } from "../../store/port/reports.ts";
import { notBeyond, seesAll } from "../beyond.ts";
import { REPORT_ID } from "../dead-letters.ts";
import { ApiError, badField } from "../errors.ts";
import type { ApiParts } from "../parts.ts";
import { readForm, readText, readWord } from "../query.ts";
import { OptionalText, Text } from "../shapes.ts";
import { BulkProgress, type Progress, statusOf, totalOf } from "./bulk-progress.ts";
import { isoTime, isoTimeOrNull } from "./schemas.ts";
import * as schemas from "./tracking-schemas.ts";
import { TRACKING, type View } from "./view.ts";

const PAGE_ITEMS = 50;
/** Bulks looked at for a page where only those of one status are wanted. */
const MAX_FILTERED = 200;
/** Reads of the store for the counts of one answer. */
const LIST_READS = 20;
const BULK_READS = 5;
const MAX_HOSTS = 100;
const MAX_NUMBERS = 20;
const MAX_BODY = 16_384;
const MAX_TEXT = 1_000;

const Before = OptionalText("What the page before gave as next.");
const AccountKey = OptionalText("For an operator: only this account's.");

export function trackingViews(parts: ApiParts): View[] {
  return [...bulkViews(parts), ...reportViews(parts), incomingView(parts)];
}

// --- Bulks ----------------------------------------------------------------------------------------------------------------

function bulkViews(parts: ApiParts): View[] {
  const { store } = parts;
  const progress = new BulkProgress(parts);

  async function itemsOf(accountId: number, bulks: readonly ListedBulk[], reads: number) {
    const names = bulks.map(({ bulkId }) => ({ accountId, bulkId }));
    const counts = await progress.look(names, reads);
    return bulks.map((bulk, index) => bulkItem(bulk, counts[index]!));
  }

  return [
    {
      name: "bulks",
      summary: "The account's bulks, newest first, and how far each is",
      ...TRACKING,
      query: Type.Object({ status: Type.Optional(Type.String()), before: Before }),
      answer: schemas.BulkList,
      async read({ id: accountId }, fields) {
        const status = readWord(fields, "status", BULK_STATUSES);
        let before = readPosition(readText(fields, "before"));
        const found: ReturnType<typeof bulkItem>[] = [];
        for (let looked = 0; looked < MAX_FILTERED && found.length < PAGE_ITEMS; looked += PAGE_ITEMS) {
          const page = await store.listedBulks({ accountId, before, limit: PAGE_ITEMS });
          const items = await itemsOf(accountId, page, LIST_READS);
          found.push(...items.filter((item) => status === null || item.status === status));
          before = page.at(-1) ?? null;
          if (page.length < PAGE_ITEMS) return { bulks: found, next: null };
          if (status === null) break;
        }
        return { bulks: found, next: before === null ? null : `${before.madeAtMs}.${before.bulkId}` };
      },
    },
    {
      name: "bulk",
      summary: "One bulk of the account, and how far it is",
      ...TRACKING,
      query: Type.Object({ id: Type.String() }),
      answer: schemas.BulkItem,
      async read({ id: accountId }, fields) {
        const bulkId = readText(fields, "id");
        if (bulkId === null) throw badField("id", "is missing: name a bulk");
        const bulk = await store.listedBulk({ accountId, bulkId });
        if (bulk === null) throw new ApiError("bulkNotFound");
        return (await itemsOf(accountId, [bulk], BULK_READS))[0];
      },
    },
  ];
}

function bulkItem(bulk: ListedBulk, progress: Progress) {
  return {
    ...progress,
    bulkId: bulk.bulkId,
    madeAt: isoTime(bulk.madeAtMs),
    sendAt: isoTime(bulk.sendAtMs),
    status: statusOf(bulk, progress),
    atOnce: bulk.state === "at once",
    total: totalOf(progress),
    lastDueAt: isoTimeOrNull(progress.lastDueAtMs),
  };
}

/** "1770890300323.spring-sale" */
function readPosition(text: string | null): BulkPosition | null {
  if (text === null) return null;
  const dot = text.indexOf(".");
  const madeAtMs = Number(text.slice(0, dot));
  if (dot < 1 || !Number.isSafeInteger(madeAtMs)) throw badField("before", "must be what the page before gave as next");
  return { madeAtMs, bulkId: text.slice(dot + 1) };
}

// --- Reports --------------------------------------------------------------------------------------------------------------

/** Whose reports the caller sees: its own, or as an operator those of one account, or with null of all. */
function whose(caller: Account, accountKey: string | null): string | null {
  if (seesAll(caller)) return accountKey;
  if (accountKey === null || accountKey === caller.key) return caller.key;
  throw caller.kind === "operator" ? notBeyond() : badField("accountKey", "is for operators");
}

function reportViews({ store }: ApiParts): View[] {
  return [
    {
      name: "reports",
      summary: "The hosts that do not take reports, and why",
      ...TRACKING,
      query: Type.Object({ accountKey: AccountKey }),
      answer: schemas.HostList,
      async read(caller, fields) {
        const accountKey = whose(caller, readText(fields, "accountKey"));
        const hosts = await store.reportHosts({ accountKey, limit: MAX_HOSTS + 1 });
        return {
          hosts: hosts.slice(0, MAX_HOSTS).map(({ nextTryAtMs, failingSinceMs, last, ...host }) => ({
            ...host,
            nextTryAt: isoTimeOrNull(nextTryAtMs),
            failingSince: isoTimeOrNull(failingSinceMs),
            last: last === null ? null : attemptItem(last),
          })),
          countedTo: MAX_COUNTED_REPORTS,
          more: hosts.length > MAX_HOSTS,
        };
      },
    },
    {
      name: "report-list",
      summary: "Reports that were not taken, newest first: dead letters, or those of a host that are tried again",
      ...TRACKING,
      query: Type.Object({
        state: Text("dead or waiting."),
        host: OptionalText("Needed for those that wait."),
        accountKey: AccountKey,
        before: Before,
      }),
      answer: schemas.ReportList,
      async read(caller, fields) {
        const state = readWord(fields, "state", ["dead", "waiting"]);
        const host = readText(fields, "host");
        const accountKey = whose(caller, readText(fields, "accountKey"));
        const beforeId = readForm(fields, "before", REPORT_ID, "must be the id of a report");
        const page = { beforeId, limit: PAGE_ITEMS };
        if (state !== "waiting") {
          const letters = await store.deadLetters({ accountKey, host, url: null, ...page });
          return listOf(letters.map((letter) => untakenItem({ ...letter, nextTryAtMs: null })));
        }
        if (host === null) throw badField("host", "is missing: those that wait are listed by host");
        if (accountKey === null) throw badField("accountKey", "is missing: name the account whose reports wait");
        const waiting = await store.waitingReports({ accountKey, host, ...page });
        return listOf(waiting.map((report) => untakenItem({ ...report, deadAtMs: null })));
      },
    },
    {
      name: "report",
      summary: "One report that was not taken: what is sent, and every try",
      ...TRACKING,
      query: Type.Object({ id: Type.String() }),
      answer: schemas.ReportView,
      async read(caller, fields) {
        const id = readForm(fields, "id", REPORT_ID, "must be the id of a report");
        if (id === null) throw badField("id", "is missing: name a report");
        const report = await store.failedReport({ accountKey: whose(caller, null), id });
        if (report === null) throw new ApiError("notFound", "There is no such report, or its receiver has taken it.");
        const { batch, host, history } = report;
        const body = bodyOf(batch);
        return {
          ...untakenItem(report),
          host,
          kind: batch.kind,
          contentType: formRules(batch.form).contentType ?? "none",
          body: body.slice(0, MAX_BODY),
          isCut: body.length > MAX_BODY,
          messages: batch.kind === "alert" ? [] : batch.items,
          history: history.map(attemptItem),
        };
      },
    },
  ];
}

type Untaken = Omit<ReportDetail, "host" | "history" | "batch">;

function untakenItem(report: Untaken) {
  return {
    ...report,
    url: shownUrl(report.url),
    madeAt: isoTime(timeOfId(BigInt(report.id))),
    nextTryAt: isoTimeOrNull(report.nextTryAtMs),
    deadAt: isoTimeOrNull(report.deadAtMs),
  };
}

function listOf<Item extends { readonly id: string }>(reports: readonly Item[]) {
  return { reports, next: reports.length < PAGE_ITEMS ? null : reports.at(-1)!.id };
}

function attemptItem({ atMs, ...attempt }: NonNullable<ReportHost["last"]>) {
  return { at: isoTime(atMs), ...attempt };
}

// --- Messages from phones -------------------------------------------------------------------------------------------------

function incomingView({ store, catalogue }: ApiParts): View {
  return {
    name: "incoming",
    summary: "Messages from phones to the account's numbers, newest first, whether they were fetched or not",
    ...TRACKING,
    query: Type.Object({ before: Before }),
    answer: schemas.IncomingList,
    async read({ id: accountId, key }, fields) {
      const beforeKey = readForm(fields, "before", REPORT_ID, "must be what the page before gave as next");
      const messages = await store.listedIncoming({ accountId, beforeKey, limit: PAGE_ITEMS });
      return {
        messages: messages.map(({ receivedAtMs, binary, text, ...message }) => ({
          ...message,
          text: text.slice(0, MAX_TEXT),
          isBinary: binary !== undefined,
          receivedAt: isoTime(receivedAtMs),
        })),
        next: messages.length < PAGE_ITEMS ? null : messages.at(-1)!.messageId,
        numbers: catalogue.current.numbersOf(key).slice(0, MAX_NUMBERS),
      };
    },
  };
}
