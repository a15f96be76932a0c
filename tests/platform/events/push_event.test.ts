/** `pushEvent` over a real network: receivers that are slow, endless, elsewhere or not who they say (contract EVT11). */
import { assert, assertEquals } from "@std/assert";
import { type EventPushOutcome, pushEvent } from "../../../src/platform/events/push_event.ts";
import { serverIdentity } from "testing/web_authority.ts";

const TOKEN = "e30.e30.c2ln";

function push(url: string, loopbackReceivers = true): Promise<EventPushOutcome> {
  return pushEvent({ fetch, loopbackReceivers }, url, TOKEN, Date.now());
}

/** `kind: why` of a failure, or `taken`. */
async function outcome(url: string, loopback?: boolean): Promise<string> {
  const pushed = await push(url, loopback);
  return pushed.ok ? "taken" : `${pushed.failure.kind}: ${pushed.failure.why}`;
}

/** A server of raw bytes: `answer` writes to each connection. */
function rawServer(answer: (connection: Deno.Conn) => Promise<void>): Disposable & { url: string } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  void (async () => {
    for await (const connection of listener) {
      open.add(connection);
      await connection.read(new Uint8Array(65_536));
      void answer(connection).catch(() => {}).finally(() => open.delete(connection));
    }
  })().catch(() => {});
  return {
    url: `http://127.0.0.1:${listener.addr.port}/events`,
    [Symbol.dispose](): void {
      listener.close();
      for (const connection of open) connection.close();
    },
  };
}

/** Writes the text a byte at a time, 200 ms apart. */
function inDrops(text: string): (connection: Deno.Conn) => Promise<void> {
  return async (connection) => {
    for (const byte of new TextEncoder().encode(text)) {
      await connection.write(new Uint8Array([byte]));
      await new Promise((done) => setTimeout(done, 200));
    }
    connection.close();
  };
}

Deno.test("a receiver that sends its response in drops has 5 s in all, for its head and its body [EVT11]", async () => {
  using head = rawServer(inDrops("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"));
  using body = rawServer(async (connection) => {
    await connection.write(
      new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\ncontent-length: 100\r\n\r\n"),
    );
    await inDrops(" ".repeat(100))(connection);
  });
  const began = performance.now();
  const outcomes = await Promise.all([outcome(head.url), outcome(body.url)]);
  assertEquals(outcomes, ["unreachable: TimeoutError", "unreachable: TimeoutError"]);
  const took = performance.now() - began;
  assert(took > 4900 && took < 8000, `${took} ms`);
});

Deno.test("of an answer without end at most 4096 bytes are used, and none of an acknowledgement [EVT11]", async () => {
  let cancelled = 0;
  const endless = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(1024).fill(32)),
      cancel: () => void cancelled++,
    });
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    ({ url }) => new Response(endless(), { status: url.endsWith("/202") ? 202 : 400 }),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  assertEquals([await outcome(`${url}/202`), await outcome(`${url}/400`)], ["taken", "rejected: status 400"]);
  for (let waits = 0; waits < 100 && cancelled < 2; waits++) {
    await new Promise((done) => setTimeout(done, 20));
  }
  assertEquals(cancelled, 2);
});

Deno.test("a redirect is not followed [EVT11, SSRF]", async () => {
  const seen: string[] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    ({ url, method }) => {
      seen.push(`${method} ${new URL(url).pathname}`);
      return new Response(null, { status: 307, headers: { location: "/inside" } });
    },
  );
  assertEquals(await outcome(`http://127.0.0.1:${server.addr.port}/events`), "rejected: status 307");
  assertEquals(seen, ["POST /events"]);
});

Deno.test("a server whose certificate is not of a trusted authority gets no token: an address within is not reached by a name that leads there [EVT11, SSRF]", async () => {
  const { certificatePem: cert, privateKeyPem: key } = await serverIdentity(["localhost"]);
  let requests = 0;
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} },
    () => (requests++, new Response(null, { status: 202 })),
  );
  assertEquals(await outcome(`https://localhost:${server.addr.port}/events`), "unreachable: TypeError");
  assertEquals(requests, 0);
});

Deno.test("an address that may not be called gets no connection [EVT11, SSRF]", async () => {
  let connections = 0;
  using server = rawServer((connection) => (connections++, connection.close(), Promise.resolve()));
  const { port } = new URL(server.url);
  for (
    const url of [
      server.url,
      `https://127.0.0.1:${port}/`,
      `https://localhost:${port}/`,
      `https://[::1]:${port}/`,
      "https://10.0.0.1/",
      "https://2130706433/",
      "https://user@shop.example/",
      "http://shop.example/",
    ]
  ) assertEquals(await outcome(url, false), "rejected: CallbackUrl may not be called", url);
  assertEquals(connections, 0);
});
