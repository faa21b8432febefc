/** The API over TLS of its own: requests, old protocols, and certificates that are replaced while it runs. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type ConnectionOptions, connect } from "node:tls";
import { Certificate, CertificateFault } from "../../src/api/certificate.ts";
import { type PartialSettings, readSettings } from "../../src/settings/settings.ts";
import { CERTIFICATE, OTHER_CERTIFICATE } from "../support/certificate.ts";
import { DEMO, eventually, startTestService, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const BALANCE = "/account/1/balance";
type Pair = typeof CERTIFICATE;

async function start(t: TestContext, server: PartialSettings["server"] = {}) {
  const directory = await temporaryDirectory(t);
  const files = { cert: join(directory, "server.crt"), key: join(directory, "server.key") };
  const write = async (pair: Partial<Pair>) => {
    for (const name of ["cert", "key"] as const) {
      const text = pair[name];
      if (text !== undefined) await writeFile(files[name], text);
    }
  };
  await write(CERTIFICATE);
  const clock = new VirtualClock();
  const settings = { server: { tlsCertificate: files.cert, tlsKey: files.key, stopTimeoutMs: 60_000, ...server } };
  const service = await startTestService(t, { clock, settings });
  /** Two looks, and what they set off: reading files is not the clock's to wait for. */
  const look = async (until: () => Promise<boolean>) => {
    await eventually(async () => {
      await clock.advance(2_000);
      return until();
    });
  };
  const { port } = new URL(service.url);
  const name = async () => (await commonName(Number(port))) ?? "";
  return { service, files, write, look, name, port: Number(port), clock };
}

/** Whose certificate a new connection gets. */
async function commonName(port: number, options: ConnectionOptions = {}): Promise<string | undefined> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
  try {
    await once(socket, "secureConnect");
    const { CN } = socket.getPeerCertificate().subject;
    return [CN].flat()[0];
  } finally {
    socket.destroy();
  }
}

/** A request by a client that trusts this certificate and no other. */
function ask(
  port: number,
  { cert }: Pair,
  servername: string,
  path = BALANCE,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: "127.0.0.1", port, path, ca: cert, servername, headers: { authorization: DEMO }, agent: false },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (text) => {
          body += text;
        });
        answer.on("end", () => resolve({ status: answer.statusCode!, body }));
      },
    );
    request.on("error", reject).end();
  });
}

test("with a certificate and its key the API is served over TLS, and its URL says so", async (t) => {
  const { service, port } = await start(t);
  assert.match(service.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const { status, body } = await ask(port, CERTIFICATE, "receiver.test");
  assert.deepEqual([status, JSON.parse(body)], [200, { balance: 100, currency: "EUR" }]);
  await assert.rejects(ask(port, OTHER_CERTIFICATE, "receiver.test"));
});

test("TLS 1.2 and 1.3 are spoken, what is older is not, and plain HTTP gets nothing", async (t) => {
  const { port } = await start(t);
  for (const version of ["TLSv1.2", "TLSv1.3"] as const)
    assert.equal(await commonName(port, { minVersion: version, maxVersion: version }), "receiver.test");
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  await assert.rejects(commonName(port, old));
  const plain = connectPlain(port, "127.0.0.1");
  plain.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  let got = "";
  plain.on("data", (data) => {
    got += data;
  });
  plain.on("error", () => undefined);
  await once(plain, "close");
  assert.equal(got, "");
  assert.equal((await ask(port, CERTIFICATE, "receiver.test")).status, 200, "others do not notice");
});

test("new files are used for new connections, and those that are open go on", async (t) => {
  const { port, write, look, name } = await start(t);
  const open = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(open, "secureConnect");
  await write(OTHER_CERTIFICATE);
  await look(async () => (await name()) === "other.test");
  assert.equal((await ask(port, OTHER_CERTIFICATE, "other.test")).status, 200);
  open.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  const [answer] = await once(open, "data");
  assert.match(String(answer), /^HTTP\/1\.1 200 /);
  open.destroy();
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  await assert.rejects(commonName(port, old), "the oldest protocol is still the same");
});

test("files that are no pair, no certificate, or gone change nothing, and the next good ones are used", async (t) => {
  const { files, write, look, name, clock } = await start(t);
  const broken: (() => Promise<void>)[] = [
    () => write({ cert: OTHER_CERTIFICATE.cert }),
    () => write({ cert: "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n" }),
    () => write({ cert: "" }),
    () => rm(files.cert),
    () => write({ cert: CERTIFICATE.cert, key: "no key" }),
  ];
  for (const breakIt of broken) {
    await breakIt();
    for (let time = 0; time < 4; time++) {
      await clock.advance(2_000);
      assert.equal(await name(), "receiver.test");
    }
  }
  await write(OTHER_CERTIFICATE);
  await look(async () => (await name()) === "other.test");
});

test("what cannot be used at the start is told with the names of the files", async (t) => {
  const directory = await temporaryDirectory(t);
  const [tlsCertificate, tlsKey] = [join(directory, "a.crt"), join(directory, "a.key")];
  const read = (server: { tlsCertificate?: string; tlsKey?: string }) =>
    Certificate.read(readSettings({ environment: {}, flags: { server } }));
  const fault = (says: string) => (error: Error) => {
    assert.ok(error instanceof CertificateFault);
    assert.ok(error.message.startsWith(says), error.message);
    return true;
  };
  assert.equal(await read({}), null);
  for (const server of [{ tlsCertificate }, { tlsKey }])
    await assert.rejects(read(server), fault("[server] tlsCertificate and tlsKey are set both or not at all"));
  const missing = `the certificate or its key cannot be read: ENOENT: no such file or directory, open '${directory}`;
  await assert.rejects(read({ tlsCertificate, tlsKey }), fault(missing));
  await writeFile(tlsCertificate, CERTIFICATE.cert);
  await writeFile(tlsKey, OTHER_CERTIFICATE.key);
  const strangers = `the certificate ${tlsCertificate} and the key ${tlsKey} cannot be used: they do not belong together`;
  await assert.rejects(read({ tlsCertificate, tlsKey }), fault(strangers));
});

test("a stop waits neither for connections without a request nor for handshakes that do not end", async (t) => {
  const { service, port } = await start(t);
  const silent = connectPlain(port, "127.0.0.1");
  const secure = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  const half = connectPlain(port, "127.0.0.1");
  for (const socket of [silent, secure, half]) socket.on("error", () => undefined);
  await Promise.all([once(silent, "connect"), once(secure, "secureConnect"), once(half, "connect")]);
  // The beginning of a handshake: a record of 512 octets, of which a few come.
  half.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252]));
  const closed = Promise.all([silent, secure, half].map((socket) => once(socket, "close")));
  await ask(port, CERTIFICATE, "receiver.test");
  // Under the virtual clock, a stop that waits would wait for ever.
  await service.stop();
  await closed;
});

test("handshakes that are never finished are closed, and told nothing", async (t) => {
  const { port, service } = await start(t, { headersTimeoutMs: 500 });
  const greeting = Buffer.from("16030100c8010000c40303", "hex");
  const closed = Array.from({ length: 200 }, async (_, index) => {
    const socket = connectPlain({ port, host: "127.0.0.1", allowHalfOpen: true });
    let said = "";
    socket.on("data", (data) => {
      said += data;
    });
    socket.on("error", () => undefined);
    if (index % 2 === 1) socket.write(greeting);
    await Promise.race([once(socket, "end"), once(socket, "close")]).catch(() => undefined);
    socket.destroy();
    return said;
  });
  assert.ok((await Promise.all(closed)).every((said) => said === ""));
  const page = await ask(port, CERTIFICATE, "receiver.test", "/metrics");
  const left = Number(/^heliograph_http_connections (\d+)$/m.exec(page.body)?.[1]);
  assert.ok(left < 10, `${left} connections are left`);
  assert.equal((await ask(port, CERTIFICATE, "receiver.test")).status, 200);
  await service.stop();
});

test("under TLS every answer says that it is to be asked for so again", async (t) => {
  const { port } = await start(t);
  const headers = await new Promise<NodeJS.Dict<string | string[]>>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: "/healthz", rejectUnauthorized: false, agent: false };
    httpsRequest(options, (answer) => {
      answer.resume();
      resolve(answer.headers);
    })
      .on("error", reject)
      .end();
  });
  assert.equal(headers["strict-transport-security"], "max-age=31536000");
});
