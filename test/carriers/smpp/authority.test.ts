/** Whom a carrier's certificate is checked against where its profile names no authority. The system's are those of a child process. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createServer, type TLSSocket } from "node:tls";
import { SmppSession } from "../../../src/carriers/smpp/session/session.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { newService } from "../../cli/in-process.ts";
import { runProgram, startChild } from "../../support/child.ts";
import { eventually, temporaryDirectory } from "../../support/service.ts";
import { CERTIFICATE, KEY } from "./session-certificate.ts";
import { ACCEPT } from "./session-support.ts";

/** Elsewhere the system's list is not a file that a test could replace. */
const LINUX = { skip: process.platform === "linux" ? false : "the system's authorities are no file here" };

/** A carrier behind TLS, and a service that has it: gives who has bound so far, and where the service's data is. */
async function behindTls(t: TestContext): Promise<{ data: string; bound: string[] }> {
  const bound: string[] = [];
  const sockets = new Set<TLSSocket>();
  const server = createServer({ cert: CERTIFICATE, key: KEY }, (socket) => {
    sockets.add(socket);
    new SmppSession(socket, {
      role: "smsc",
      clock: systemClock,
      onBind: (pdu) => {
        bound.push(pdu.command);
        return ACCEPT();
      },
    });
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const service = await newService(t);
  const fields = ["kind=smpp", `hosts=127.0.0.1:${(server.address() as AddressInfo).port}`, "systemId=me", "tls=true"];
  const set = await service.run(["carrier", "set", "secure", ...fields, "--password-stdin"], { input: "secret" });
  assert.equal(set.code, 0, set.stderr);
  await service.done("route", "set", "41", "secure");
  return { data: service.data, bound };
}

/** The environment of a machine whose list of authorities is this file. */
function trusting(file: string): Record<string, string> {
  return { SSL_CERT_FILE: file, SSL_CERT_DIR: "/nonexistent", NODE_EXTRA_CA_CERTS: "" };
}

async function listOf(t: TestContext, pem: string): Promise<string> {
  const file = join(await temporaryDirectory(t), "authorities.pem");
  await writeFile(file, pem);
  return file;
}

/** What the doctor says of the carrier. */
async function examined(data: string, environment: Record<string, string>) {
  const { stdout } = await runProgram(["doctor", "--json", "--data", data], {
    ...environment,
    HELIOGRAPH_SERVER_PORT: "0",
  });
  const { findings } = JSON.parse(stdout) as { findings: { about: string; says: string; fix?: string }[] };
  return findings.find(({ about }) => about.startsWith("secure "))!;
}

test(
  "a carrier whose authority only the system knows is bound to, and the doctor says who is trusted",
  LINUX,
  async (t) => {
    const { data, bound } = await behindTls(t);
    const environment = trusting(await listOf(t, CERTIFICATE));
    const { says } = await examined(data, environment);
    assert.equal(says, "bound as me, over TLS, trusting the system's authorities");
    bound.length = 0;
    const child = await startChild(t, ["serve", "--port", "0", "--data", data], environment);
    await eventually(async () => bound.includes("bind_transceiver"));
    await child.end("SIGTERM");
  },
);

test(
  "where the system has no authorities those that Node brings are trusted, and a carrier that they do not know is refused",
  LINUX,
  async (t) => {
    const { data, bound } = await behindTls(t);
    const told = await examined(data, trusting("/nonexistent"));
    assert.match(told.says, /^no connection: self-signed certificate/);
    assert.match(JSON.stringify(told), /the authorities that Node brings, for the system's cannot be read/);
    assert.deepEqual(bound, []);
  },
);

test("authorities of NODE_EXTRA_CA_CERTS are trusted beside them", async (t) => {
  const { data } = await behindTls(t);
  const extra = { ...trusting("/nonexistent"), NODE_EXTRA_CA_CERTS: await listOf(t, CERTIFICATE) };
  assert.match((await examined(data, extra)).says, /^bound as me, over TLS/);
});
