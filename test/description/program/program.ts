/**
 * A program as a client of the API would write it, on the library that a generator makes of /openapi.json (client.ts, beside a copy of this file). The
 * test checks it against the library's types, which fails where the description does not say what the service does, and then runs it.
 */
import { type ErrorResponse, Heliograph, type Log, type Report, type SentMessage } from "./client.ts";

export class Program {
  readonly #api: Heliograph<string>;

  constructor(baseUrl: string, username: string, password: string) {
    this.#api = new Heliograph<string>({
      baseUrl,
      securityWorker: (credentials) => ({ headers: { authorization: `Basic ${credentials}` } }),
    });
    this.#api.setSecurityData(btoa(`${username}:${password}`));
  }

  async send(to: string, text: string): Promise<SentMessage> {
    const { data } = await this.#api.sending.sendTextAdvanced(
      { messages: [{ from: "InfoSMS", destinations: [{ to }], text, validityPeriod: 60 }] },
      { headers: { "idempotency-key": `${to} ${text}` } },
    );
    const [message] = data.messages;
    if (message === undefined || data.trackingProcessKey === "") throw new Error("no message in the answer");
    return message;
  }

  async reports(messageId: string): Promise<Report[]> {
    return (await this.#api.tracking.fetchReports({ messageId: [messageId], limit: 10 })).data.results;
  }

  async logs(messageId: string): Promise<Log[]> {
    return (await this.#api.tracking.searchLogs({ messageId: [messageId], generalStatus: "DELIVERED" })).data.results;
  }

  /** Schedules a bulk, moves it, pauses it, lets it go on and calls it off; what each step answered. */
  async manageBulk(bulkId: string, sendAt: string, movedTo: string): Promise<string[]> {
    const { sending, scheduledBulks: bulks } = this.#api;
    const { data } = await sending.sendTextAdvancedV2({
      bulkId,
      messages: [{ from: "InfoSMS", destinations: [{ to: "41793026727" }], text: "Later", sendAt }],
      includeSmsCountInResponse: true,
    });
    const seen = [data.messages[0]?.status.name ?? "", (await bulks.getBulk({ bulkId })).data.sendAt];
    seen.push((await bulks.moveBulk({ bulkId }, { sendAt: movedTo })).data.sendAt);
    for (const status of ["PAUSED", "PENDING", "CANCELED"] as const)
      seen.push((await bulks.setBulkStatus({ bulkId }, { status })).data.status);
    seen.push((await bulks.getBulkStatus({ bulkId })).data.status);
    return seen;
  }

  /** What the error of a bulk says that is not there. */
  async missingBulk(bulkId: string): Promise<ErrorResponse> {
    try {
      await this.#api.scheduledBulks.getBulk({ bulkId });
    } catch (answer) {
      return (answer as { error: ErrorResponse }).error;
    }
    throw new Error(`${bulkId} is there`);
  }

  async balance(): Promise<number> {
    return (await this.#api.account.getBalance()).data.balance;
  }

  /** A session, and what it may do: opened, used and ended. */
  async session(username: string, password: string): Promise<number[]> {
    const { data } = await this.#api.account.openSession({ username, password });
    const asSession = { headers: { authorization: `IBSSO ${data.token}` }, secure: false };
    const { status } = await this.#api.account.getBalance(asSession);
    return [status, (await this.#api.account.endSession(asSession)).status];
  }
}
