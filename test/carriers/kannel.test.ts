/**
 * Kannel as a customer of the simulated network, both ways: what its HTTP side is given arrives at the phones and is receipted, and what phones
 * write arrives at its services. The one gateway that most of this field has run, and nobody here wrote it.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { freePorts, kannelProgram, untilOpen } from "../../bench/cycle/kannel-start.ts";
import { Program } from "../../bench/cycle/program.ts";
import type { Smsc } from "../../src/smsc/smsc.ts";
import { until } from "../support/patience.ts";
import { startSmsc } from "../support/smsc.ts";

const BEARERBOX = kannelProgram("bearerbox");
const SMSBOX = kannelProgram("smsbox");
const skip =
  BEARERBOX === null || SMSBOX === null
    ? "Kannel is not installed here (bearerbox and smsbox; on Debian the package kannel)"
    : false;

const LOGIN = "username=test&password=test";
const RECEIPT_FOR_ALL = 31; // delivered, failed, buffered, taken and refused by the carrier

interface Kannel {
  /** Hands it a message, as its HTTP side wants it. */
  send(fields: Readonly<Record<string, string>>): Promise<void>;
  /** The queries of the requests that it made: receipts have a `state`, messages from phones a `text`. */
  readonly requests: readonly URLSearchParams[];
}

async function startKannel(t: TestContext, smsc: Smsc): Promise<Kannel> {
  const requests: URLSearchParams[] = [];
  const sink = createServer((request, response) => {
    requests.push(new URL(request.url ?? "", "http://sink").searchParams);
    response.end();
  });
  await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve));
  const sinkUrl = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
  const directory = mkdtempSync(join(tmpdir(), "heliograph-kannel-"));
  const [adminPort, boxPort, httpPort] = await freePorts(3);
  const config = join(directory, "kannel.conf");
  const incomingUrl = `${sinkUrl}/?from=%p&to=%P&coding=%c&text=%b`;
  writeFileSync(
    config,
    `group = core
admin-port = ${adminPort}
admin-interface = 127.0.0.1
admin-password = test
smsbox-port = ${boxPort}
smsbox-interface = 127.0.0.1
dlr-storage = internal

group = smsc
smsc = smpp
smsc-id = trial
host = 127.0.0.1
port = ${smsc.port}
transceiver-mode = true
smsc-username = kannel
smsc-password = secret
system-type = test
address-range = ""
enquire-link-interval = 1

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${httpPort}
sendsms-interface = 127.0.0.1
mo-recode = false

group = sendsms-user
username = test
password = test
max-messages = 10
concatenation = true

group = sms-service
keyword = default
get-url = "${incomingUrl}"
catch-all = true
max-messages = 0
concatenation = true
`,
  );
  const programs: Program[] = [];
  t.after(async () => {
    for (const program of programs.toReversed()) await program.stop();
    sink.closeAllConnections();
    await new Promise((resolve) => sink.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  });
  programs.push(new Program(BEARERBOX!, ["-v", "4", config], join(directory, "bearerbox.out")));
  await untilOpen(boxPort!);
  programs.push(new Program(SMSBOX!, ["-v", "4", config], join(directory, "smsbox.out")));
  await untilOpen(httpPort!);
  await until(() => smsc.connections.some(({ systemId }) => systemId === "kannel"));
  const send = async (fields: Readonly<Record<string, string>>): Promise<void> => {
    const receiptUrl = `${sinkUrl}/?state=%d&to=%p&reply=%A`;
    const query = new URLSearchParams({ ...fields, "dlr-mask": String(RECEIPT_FOR_ALL), "dlr-url": receiptUrl });
    const response = await fetch(`http://127.0.0.1:${httpPort}/cgi-bin/sendsms?${LOGIN}&${query}`);
    assert.equal(response.status, 202, await response.text());
  };
  return { send, requests };
}

const DELIVERED = "1";
const FAILED = "2";

test("what Kannel submits arrives, whole and in its alphabet, and Kannel understands the receipts", {
  skip,
}, async (t) => {
  const smsc = await startSmsc(t);
  const kannel = await startKannel(t, smsc);
  const long = "All work and no play makes Jack a dull boy. ".repeat(8);
  await kannel.send({ from: "Kannel", to: "385991000001", text: "Hello @ {5} €", charset: "UTF-8" });
  await kannel.send({ from: "12345", to: "385991000002", text: "Здравствуйте", charset: "UTF-8", coding: "2" });
  await kannel.send({ from: "Kannel", to: "385991000003", text: long, charset: "UTF-8" });
  await kannel.send({ from: "Kannel", to: "385991999003", text: "no such phone", charset: "UTF-8" });
  const receiptsFor = (to: string) => kannel.requests.filter((query) => query.get("to") === to);
  const isTold = (to: string, state: string) => receiptsFor(to).some((query) => query.get("state") === state);
  await until(() => ["385991000001", "385991000002", "385991000003"].every((to) => isTold(to, DELIVERED)));
  await until(() => isTold("385991999003", FAILED));
  const textTo = (to: string) =>
    smsc
      .find({ to })
      .toSorted((one, other) => (one.place?.sequence ?? 0) - (other.place?.sequence ?? 0))
      .map(({ text }) => text)
      .join("");
  assert.equal(textTo("385991000001"), "Hello @ {5} €");
  assert.equal(textTo("385991000002"), "Здравствуйте");
  assert.equal(textTo("385991000003"), long);
  assert.deepEqual(
    smsc.find({ to: "385991000003" }).map(({ place }) => place?.total),
    [3, 3, 3],
  );
  assert.equal(smsc.counters.waiting, 0);
});

test("what phones write to the network arrives at Kannel's services, in either alphabet", { skip }, async (t) => {
  const smsc = await startSmsc(t);
  const kannel = await startKannel(t, smsc);
  const plain = smsc.incoming({ from: "385991234567", to: "12345", text: "Hello @ {5}" });
  const wide = smsc.incoming({ from: "385991234567", to: "12345", text: "Добро" });
  assert.equal(await plain.acknowledged, true);
  assert.equal(await wide.acknowledged, true);
  await until(() => kannel.requests.length === 2);
  // It marks international numbers with a plus, and passes UCS-2 on as the octets that it is.
  const heard = kannel.requests.map((query) => {
    const [text, coding] = [query.get("text") ?? "", query.get("coding")];
    const shown = coding === "2" ? Buffer.from(text, "latin1").swap16().toString("utf16le") : text;
    return [query.get("from"), query.get("to"), coding, shown];
  });
  assert.deepEqual(heard.toSorted(), [
    ["+385991234567", "12345", "0", "Hello @ {5}"],
    ["+385991234567", "12345", "2", "Добро"],
  ]);
});
