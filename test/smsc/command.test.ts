/** `heliograph smsc` as its user has it: a process with a port, and controls over HTTP. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readTlv } from "../../src/carriers/smpp/codec/tlvs.ts";
import { smscCommand } from "../../src/cli/smsc.ts";
import { CommandFault } from "../../src/cli/support.ts";
import { runProgram } from "../support/child.ts";
import { eventually, temporaryDirectory } from "../support/service.ts";
import { bindTo, textOf } from "../support/smsc.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/heliograph.js");

interface Running {
  readonly port: number;
  /** Where its controls are; empty without them. */
  readonly url: string;
  readonly process: ChildProcess;
  output(): string;
  /** Sends the signal and gives the exit code. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

async function startCommand(t: TestContext, ...args: string[]): Promise<Running> {
  const child = spawn(process.execPath, [PROGRAM, "smsc", "--port", "0", "--answer-after", "0", ...args]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data: Buffer) => {
      output += data;
    });
  }
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  t.after(() => end("SIGKILL"));
  const withControls = args.includes("--control-port");
  const [, port, url] = await eventually(async () => {
    assert.equal(child.exitCode, null, output);
    return (withControls ? /on 127.0.0.1:(\d+)\n.*(http:\S+)\n/ : /on 127.0.0.1:(\d+)\n/).exec(output);
  });
  return { port: Number(port), url: url ?? "", process: child, output: () => output, end };
}

async function call(method: string, url: string, body?: unknown): Promise<{ status: number; json: unknown }> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url, { method, ...(body === undefined ? {} : { body: text }) });
  return { status: response.status, json: await response.json() };
}

test("it says where it listens, serves, and stops in order with a goodbye", async (t) => {
  const command = await startCommand(t);
  assert.equal(command.output(), `Heliograph SMSC listens on 127.0.0.1:${command.port}\n`);
  const customer = await bindTo(t, command);
  await customer.submit();
  await eventually(async () => customer.delivered.length === 1);
  const ended = command.end("SIGTERM");
  assert.equal((await customer.closed).why, "peer unbound");
  assert.equal(await ended, 0);
});

test("its controls: faults read and set, the record, messages from phones, a disconnect", async (t) => {
  const { url, ...command } = await startCommand(t, "--control-port", "0", "--fault", "ids=hex", "--print");
  const customer = await bindTo(t, command);
  assert.deepEqual(await call("GET", `${url}/faults`), { status: 200, json: { ids: "hex" } });
  const faults = { doubleReceipt: { count: 1, to: "567$" }, receiptForm: "text" };
  assert.deepEqual(await call("PUT", `${url}/faults`, faults), { status: 200, json: faults });

  const { messageId } = await customer.submit({ shortMessage: Buffer.from("One\nline") });
  await eventually(async () => customer.delivered.length === 2);
  assert.equal(textOf(customer.delivered[0]!), textOf(customer.delivered[1]!));

  await customer.submit({ destinationAddr: "385990000001" });
  const { json } = await call("GET", `${url}/messages?to=385991234567`);
  const { messages } = json as { messages: Record<string, unknown>[] };
  const { at, outcome: _outcome, ...message } = messages[0]!;
  assert.equal(messages.length, 1);
  assert.deepEqual(message, {
    arrival: 1,
    id: messageId,
    systemId: "customer",
    connection: 1,
    from: "Heliograph",
    to: "385991234567",
    text: "One\nline",
    place: null,
    octets: Buffer.from("One\nline").toString("hex"),
    tlvs: [],
    dataCoding: 0,
    esmClass: 0,
    registeredDelivery: 1,
  });
  assert.ok(!Number.isNaN(Date.parse(at as string)));
  const pages = ["?limit=1", "?after=0&limit=1", "?after=2", "?limit=0"].map(async (query) => {
    const { json } = await call("GET", `${url}/messages${query}`);
    return (json as { messages: { arrival: number }[] }).messages.map(({ arrival }) => arrival);
  });
  assert.deepEqual(await Promise.all(pages), [[2], [1], [], []]);
  await eventually(async () => command.output().includes('385990000001 "Hello"'));
  assert.ok(command.output().includes('\n1 customer#1 Heliograph → 385991234567 "One\\nline"\n'));

  await eventually(async () => customer.delivered.length === 3);
  const incoming = { from: "385991234567", to: "12345", text: "x".repeat(200) };
  assert.deepEqual(await call("POST", `${url}/incoming`, incoming), { status: 200, json: { parts: 2 } });
  await eventually(async () => customer.delivered.length === 5);
  const octets = { from: "385991234567", to: "12345", hex: "0401020304 ff", dataCoding: 246, esmClass: 64 };
  const long = { from: "385991234567", to: "12345", hex: "00".repeat(300) };
  for (const body of [octets, long])
    assert.deepEqual(await call("POST", `${url}/incoming`, body), { status: 200, json: { parts: 1 } });
  await eventually(async () => customer.delivered.length === 7);
  const [short, payload] = customer.delivered.slice(-2);
  assert.deepEqual(
    [Buffer.from(short!.shortMessage).toString("hex"), short!.dataCoding, short!.esmClass],
    ["0401020304ff", 246, 64],
  );
  assert.deepEqual([payload!.shortMessage.length, readTlv(payload!.tlvs, "message_payload")?.length], [0, 300]);

  const status = (await call("GET", `${url}/status`)).json as { connections: unknown[]; counters: { hits: unknown } };
  assert.deepEqual(status.connections, [{ id: 1, systemId: "customer", bind: "transceiver" }]);
  assert.deepEqual(status.counters.hits, { doubleReceipt: 1, receiptForm: 2 });
  assert.deepEqual(await call("POST", `${url}/disconnect`), { status: 200, json: { connections: 1 } });
  await customer.closed;
});

test("its controls say what is wrong with a request, and are not for web pages", async (t) => {
  const { url } = await startCommand(t, "--control-port", "0");
  const wrong: [method: string, path: string, body: unknown, status: number, says: RegExp][] = [
    ["PUT", "/faults", "{", 400, /^the body is not JSON: /],
    ["PUT", "/faults", { dropAnswer: { count: -1 } }, 400, /^dropAnswer.count must be /],
    ["PUT", "/faults", { nonsense: true }, 400, /^there is no fault "nonsense"/],
    ["PUT", "/faults", "x".repeat(2_000_000), 413, /octets$/],
    ["DELETE", "/faults", undefined, 405, /^\/faults takes GET and PUT, not DELETE$/],
    ["GET", "/nowhere", undefined, 404, /^there is no \/nowhere; there are \/faults, /],
    ["GET", "/messages?limit=many", undefined, 400, /^limit must be a whole number/],
    ["POST", "/incoming", { from: "1", to: "2" }, 400, /^text must be a string, unless /],
    ["POST", "/incoming", { from: "1", to: "2", hex: "0" }, 400, /^hex must be /],
    ["POST", "/incoming", { from: "1", to: "2", hex: "00".repeat(65_536) }, 400, /^hex must be up to 65535 octets/],
    ["POST", "/incoming", { from: "1", to: "2", hex: "00", dataCoding: 256 }, 400, /^dataCoding must be /],
    ["POST", "/incoming", { from: "1", to: "2", hex: "00", esmClass: "64" }, 400, /^esmClass must be /],
    ["POST", "/incoming", null, 400, /^from must be /],
    ["POST", "/incoming", { from: "1", to: "2", text: "x".repeat(50_000) }, 400, /parts$/],
  ];
  for (const [method, path, body, status, says] of wrong) {
    const answer = await call(method, url + path, body);
    assert.equal(answer.status, status, `${method} ${path}`);
    assert.match((answer.json as { error: string }).error, says);
  }
  for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
    const asking = request(`${url}/faults`, { headers });
    asking.end();
    const [response] = await once(asking, "response");
    response.resume();
    assert.equal(response.statusCode, 403);
  }
  assert.deepEqual(await call("GET", `${url}/faults`), { status: 200, json: {} });
});

test("faults to begin with come from a file, and those that are named stand above it", async (t) => {
  const file = join(await temporaryDirectory(t), "faults.json");
  await writeFile(file, JSON.stringify({ dropReceipt: true, ids: "hex" }));
  const { url, end } = await startCommand(
    t,
    "--control-port",
    "0",
    "--faults",
    file,
    "--fault",
    "ids=uuid",
    "--fault",
    "queueFull=1",
  );
  assert.deepEqual((await call("GET", `${url}/faults`)).json, { dropReceipt: true, ids: "uuid", queueFull: 1 });
  assert.equal(await end("SIGTERM"), 0);
});

test("it takes only whom it is told to take", async (t) => {
  const command = await startCommand(t, "--system-id", "us", "--password", "secret");
  await assert.rejects(bindTo(t, command, { systemId: "them" }));
  await assert.rejects(bindTo(t, command, { systemId: "us", password: "guess" }));
  const customer = await bindTo(t, command, { systemId: "us", password: "secret" });
  await customer.session.unbind();
  assert.equal(await command.end("SIGINT"), 0);
});

test("what cannot be is told in a line, and it does not start", async (t) => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  t.after(() => blocker.close());
  const { port } = blocker.address() as { port: number };
  const wrong: [args: string[], says: RegExp][] = [
    [["--port", "many"], /^--port must be a whole number from 0 to 65535, not "many"$/],
    [["--window", "0"], /^--window must be a whole number from 1 to 100000, not "0"$/],
    [
      ["--host", "0.0.0.0"],
      /^the simulated carrier takes messages from anyone, .* say --dangerous-expose if you mean it$/,
    ],
    [["--fault", "nonsense"], /^there is no fault "nonsense"; there are /],
    [["--faults", "/nowhere"], /^\/nowhere is not readable as faults: ENOENT/],
    [["--port", String(port)], /^the port cannot be listened on \(EADDRINUSE\): name another with --port$/],
    [["--port", "0", "--control-port", String(port)], /\(EADDRINUSE\): name another with --control-port$/],
  ];
  for (const [args, says] of wrong) {
    const running = smscCommand().parseAsync(args, { from: "user" });
    await assert.rejects(running, (error: Error) => error instanceof CommandFault && says.test(error.message));
  }
  const { code, stdout, stderr } = await runProgram(["smsc", "--host", "::"]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^heliograph: .* :: can be reached by others/);
});

test("a password from a file lets in who has it, and is not among the process's arguments", async (t) => {
  const file = join(await temporaryDirectory(t), "password");
  await writeFile(file, "pass1234\n");
  const command = await startCommand(t, "--password-file", file);
  await bindTo(t, command, { password: "pass1234" });
  await assert.rejects(bindTo(t, command, { password: "other" }));
  const missing = await runProgram(["smsc", "--port", "0", "--password-file", `${file}2`]);
  assert.deepEqual([missing.code, /--password-file cannot be used: ENOENT/.test(missing.stderr)], [1, true]);
});
