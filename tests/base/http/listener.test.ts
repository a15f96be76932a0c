/** The bounds of a listener, over real sockets: connections, the time of each phase, and a stop. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openListener } from "../../../src/base/http/deno_listener.ts";
import type { Listener, ListenerOptions } from "../../../src/base/http/listener.ts";
import { inShell, startCommand } from "testing/served_platform.ts";
import { connectRaw, HALF_HEADER, type RawClient, until } from "support/raw_client.ts";
import type { WaitingClients } from "support/waiting_clients.ts";
import type { Log } from "../../../src/base/observability/log_events.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
/** More than the socket buffers of both ends hold. */
const LARGE = "x".repeat(32_000_000);
const LONG = { header: 600, idle: 600 };
const SILENT: Log = { info() {}, warn() {}, error() {} };

interface Opened extends AsyncDisposable {
  readonly listener: Listener;
  /** Requests for `/wait` whose handler has begun. */
  readonly waiting: () => number;
  /** Ends their handlers. */
  readonly release: () => void;
  connect(): Promise<RawClient>;
}

function open(options: Partial<ListenerOptions>): Opened {
  let waiting = 0;
  const released = Promise.withResolvers<void>();
  const listener = openListener({
    hostname: "127.0.0.1",
    port: 0,
    maxConnections: 100,
    times: LONG,
    log: SILENT,
    async handle(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/wait") {
        waiting += 1;
        await released.promise;
      }
      return new Response(pathname === "/large" ? LARGE : pathname);
    },
    onError: () => new Response(null, { status: 500 }),
    onStopping: () => new Response(null, { status: 503 }),
    ...options,
  });
  const clients: RawClient[] = [];
  return {
    listener,
    waiting: () => waiting,
    release: released.resolve,
    async connect() {
      const client = await connectRaw(listener.addr.port);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      released.resolve();
      for (const client of clients) client.close();
      await listener.stop();
    },
  };
}

Deno.test("a connection without a complete header is closed after the header time, although bytes arrive", async () => {
  await using opened = open({ times: { ...LONG, header: 1 } });
  const client = await opened.connect();
  await client.send(HALF_HEADER);
  const dribble = setInterval(() => void client.send("x"), 50);
  assertEquals(await client.read(), "");
  clearInterval(dribble);
});

Deno.test("a connection without a further request is closed after the idle time, not after the header time", async () => {
  await using opened = open({ times: { ...LONG, header: 1, idle: 3 } });
  const [kept, empty] = [await opened.connect(), await opened.connect()];
  await kept.send(REQUEST);
  assert((await kept.read()).startsWith("HTTP/1.1 200"));
  assertEquals(await empty.read(), "");
  assertEquals(opened.listener.connections(), 1, "the kept connection was closed with the empty one");
  assertEquals(await kept.read(), "");
});

Deno.test("a connection is cut if the client does not take the response within the idle time", async () => {
  await using opened = open({ times: { ...LONG, idle: 1 } });
  const client = await opened.connect();
  await client.send(REQUEST.replace("/", "/large"));
  await until(() => opened.listener.connections() === 1);
  await until(() => opened.listener.connections() === 0);
});

Deno.test("a connection ends after a response that closes it, although the body of its request has not arrived", async () => {
  await using opened = open({ handle: () => new Response(null, { headers: { connection: "close" } }) });
  const client = await opened.connect();
  await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nbody");
  assert((await client.read()).startsWith("HTTP/1.1 200"));
  assertEquals(await client.read(), "");
});

Deno.test("a request in work is not closed by any of the times", async () => {
  await using opened = open({ times: { header: 1, idle: 1 } });
  const [working, marker] = [await opened.connect(), await opened.connect()];
  await working.send(REQUEST.replace("/", "/wait"));
  assertEquals(await marker.read(), ""); // by now the times have ended
  opened.release();
  assert((await working.read()).startsWith("HTTP/1.1 200"));
});

Deno.test("at the bound a new connection takes the place of the one that waits longest, never of one in work", async () => {
  await using opened = open({ maxConnections: 4, times: { ...LONG, header: 100 } });
  const working = await opened.connect();
  await working.send(REQUEST.replace("/", "/wait"));
  const slow = await opened.connect();
  await slow.send(HALF_HEADER);
  await until(() => opened.listener.connections() === 2 && opened.waiting() === 1);
  for (let count = 0; count < 5; count++) {
    const client = await opened.connect();
    await client.send(REQUEST);
    assert((await client.read()).startsWith("HTTP/1.1 200"));
    assert(opened.listener.connections() <= 4, `${opened.listener.connections()} connections`);
  }
  assertEquals(await slow.read(), "");
  opened.release();
  assert((await working.read()).startsWith("HTTP/1.1 200"));
});

Deno.test("at the bound, with all connections in work, a new one is answered as soon as one of them ends", async () => {
  await using opened = open({ maxConnections: 2 });
  const [first, second] = [await opened.connect(), await opened.connect()];
  for (const client of [first, second]) await client.send(REQUEST.replace("/", "/wait"));
  await until(() => opened.waiting() === 2);
  const third = await opened.connect();
  await third.send(REQUEST);
  opened.release();
  assert((await third.read()).startsWith("HTTP/1.1 200"));
});

Deno.test("stop answers what is in work, closes idle and half-sent requests, and cuts responses that are not taken", async () => {
  await using opened = open({});
  const [working, idle, half, unread] = await Promise.all([1, 2, 3, 4].map(() => opened.connect()));
  await working?.send(REQUEST.replace("/", "/wait"));
  await idle?.send(REQUEST);
  await idle?.read();
  await half?.send(HALF_HEADER);
  await unread?.send(REQUEST.replace("/", "/large"));
  assert((await unread?.read())?.startsWith("HTTP/1.1 200"));
  await until(() => opened.listener.connections() === 4 && opened.waiting() === 1);
  const stopped = opened.listener.stop();
  await idle?.send(REQUEST);
  assert((await idle?.read())?.startsWith("HTTP/1.1 503"));
  opened.release();
  assert((await working?.read())?.startsWith("HTTP/1.1 200"));
  assertEquals(await half?.read(), "");
  await stopped;
});

Deno.test("stop waits for a request in work whose client has closed the connection", async () => {
  await using opened = open({});
  const client = await opened.connect();
  await client.send(REQUEST.replace("/", "/wait"));
  await until(() => opened.waiting() === 1);
  client.close();
  let stopped = false;
  const stopping = opened.listener.stop().then(() => void (stopped = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assertEquals(stopped, false);
  opened.release();
  await stopping;
});

Deno.test("a listener whose accepts fail for want of files goes on, and takes files from connections without a request", async () => {
  const script = new URL("./listener_process.ts", import.meta.url).pathname;
  const command = [Deno.execPath(), "run", "--quiet", "--no-check", "--no-prompt", "--allow-net", script];
  const process = startCommand(inShell('ulimit -n 100; exec "$@"')(command), ".", {}, "listening");
  await process.ready;
  const port = Number((await process.logged("listening"))["port"]);
  const clients: RawClient[] = [];
  for (let count = 0; count < 150; count++) clients.push(await connectRaw(port, HALF_HEADER));
  const last = await connectRaw(port, REQUEST);
  assert((await last.read()).startsWith("HTTP/1.1 200"));
  assertMatch(String((await process.logged("listener.accept_failed"))["why"]), /Too many open files/);
  for (const client of [...clients, last]) client.close();
  process.kill("SIGKILL");
  await process.ended;
});

Deno.test("a listener that stops accepting rejects connections, and serves the open ones one last time each", async () => {
  await using opened = open({});
  const { port } = opened.listener.addr;
  const [used, idle, working] = [await opened.connect(), await opened.connect(), await opened.connect()];
  await used.send(REQUEST);
  assert(!/^connection: close/im.test(await used.read()), "connections are kept before");
  await working.send(REQUEST.replace("/", "/wait"));
  await until(() => opened.waiting() === 1 && opened.listener.connections() === 3);
  await opened.listener.stopAccepting();
  await assertRejects(() => connectRaw(port), Deno.errors.ConnectionRefused);
  for (const client of [used, idle]) await client.send(REQUEST);
  opened.release();
  await Promise.all([used, idle, working].map(async (client) => {
    assertMatch(await client.read(), /^HTTP\/1\.1 200 [^]*^connection: close\r$/im);
    assertEquals(await client.read(), "");
  }));
});

Deno.test("a listener that stops accepting takes the connections that the kernel has established before", async () => {
  await using opened = open({});
  const established = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL("../../support/waiting_clients.ts", import.meta.url), { type: "module" });
  const answers = new MessageChannel();
  const answered = new Promise<string[]>((resolve) => answers.port1.onmessage = ({ data }) => resolve(data));
  const order: WaitingClients = { port: opened.listener.addr.port, count: 50, established };
  worker.postMessage(order, [answers.port2]);
  Atomics.wait(established, 0, 0); // blocks this thread, so that no connection is accepted meanwhile
  await opened.listener.stopAccepting();
  assertEquals(await answered, Array(50).fill("HTTP/1.1 200 OK"));
  answers.port1.close();
  worker.terminate();
});
