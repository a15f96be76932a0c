/** The sandbox's TLS front door against requests that no well-meaning client sends, byte by byte [H4, H15, H18, H20]. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withFrontDoor } from "support/front_door_environment.ts";

/** Records the requests that the handler received, one line each: URL, body size, and the headers that tests send. */
function tellRequest(seen: string[]): (request: Request) => Promise<Response> {
  return async (request) => {
    const sent = [...request.headers].filter(([name]) => name !== "client-cert" && name !== "x-proxy-secret");
    seen.push(
      `${request.method} ${request.url} ${(await request.bytes()).length} ${
        sent.map((pair) => pair.join("=")).join(";")
      }`,
    );
    return new Response("seen");
  };
}

/** Sends bytes on one TLS connection and gives back all that came, with what the handler saw. */
async function sendBytes(
  bytes: string,
): Promise<{ readonly answer: string; readonly seen: readonly string[] }> {
  const seen: string[] = [];
  let answer = "";
  await withFrontDoor(tellRequest(seen), async (env) => {
    const { cert, key } = env.alpha;
    const options = { hostname: "localhost", port: env.port, caCerts: [env.ca], cert, key };
    const connection = await Deno.connectTls(options);
    await connection.write(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));
    try {
      for await (const chunk of connection.readable) answer += new TextDecoder().decode(chunk);
    } catch (error) {
      // A server that rejects the bytes may drop the connection without a word of TLS.
      if (!(error instanceof Deno.errors.UnexpectedEof || error instanceof Deno.errors.ConnectionReset)) {
        throw error;
      }
    }
    assertEquals(env.failures, []);
  });
  return { answer, seen };
}

const closing = "Host: evil.example\r\nConnection: close\r\n";

const rejected: Record<string, readonly [string, string]> = {
  "space before the colon": [`GET / HTTP/1.1\r\n${closing}Client-Cert : :AAAA:\r\n\r\n`, "400"],
  "tab before the colon": [`GET / HTTP/1.1\r\n${closing}Client-Cert\t: :AAAA:\r\n\r\n`, "400"],
  "folded header": [`GET / HTTP/1.1\r\n${closing}X-A: b\r\n Client-Cert: :AAAA:\r\n\r\n`, "400"],
  "bare CR": [`GET / HTTP/1.1\r\n${closing}X-A: b\rClient-Cert: :AAAA:\r\n\r\n`, "400"],
  "NUL in a value": [`GET / HTTP/1.1\r\n${closing}X-A: b\0\r\n\r\n`, "400"],
  "no Host": ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "400"],
  "two lengths": [`POST / HTTP/1.1\r\n${closing}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, "400"],
  "length and chunks": [
    `POST / HTTP/1.1\r\n${closing}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    "400",
  ],
  "target *": [`OPTIONS * HTTP/1.1\r\n${closing}\r\n`, "400"],
  "TRACE": [`TRACE / HTTP/1.1\r\n${closing}\r\n`, "405"],
  "20 kB of header": [`GET / HTTP/1.1\r\n${closing}X-A: ${"a".repeat(20_000)}\r\n\r\n`, "431"],
};

for (const [name, [bytes, status]] of Object.entries(rejected)) {
  Deno.test(`front door rejects ${name}`, async () => {
    const { answer, seen } = await sendBytes(bytes);
    assertStringIncludes(answer, `HTTP/1.1 ${status} `);
    assertEquals(seen, []);
  });
}

const passed: Record<string, readonly [string, readonly string[]]> = {
  "a target in absolute form to its own host": [
    `GET https://evil.example/a?b HTTP/1.1\r\n${closing}\r\n`,
    ["GET https://api.example/a?b 0 "],
  ],
  "a target with two slashes to its own host": [
    `GET //evil.example/a HTTP/1.1\r\n${closing}\r\n`,
    ["GET https://api.example//evil.example/a 0 "],
  ],
  "repeated headers joined, none dropped": [
    `GET / HTTP/1.1\r\n${closing}DPoP: a\r\ndpop: b\r\nAuthorization: c\r\nauthorization: d\r\n\r\n`,
    ["GET https://api.example/ 0 authorization=c, d;dpop=a, b"],
  ],
  "a request without what its Connection header names": [
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Once\r\nX-Once: 1\r\nTE: trailers\r\nUpgrade: h2c\r\n\r\n",
    ["GET https://api.example/ 0 "],
  ],
  "the body of a GET to nobody": [
    `GET / HTTP/1.1\r\n${closing}Content-Length: 2\r\n\r\nab`,
    ["GET https://api.example/ 0 "],
  ],
  "pipelined requests one after the other": [
    `GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\n${closing}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
    ["GET https://api.example/1 0 ", "POST https://api.example/2 2 "],
  ],
};

for (const [name, [bytes, expected]] of Object.entries(passed)) {
  Deno.test(`front door passes ${name}`, async () => {
    const { answer, seen } = await sendBytes(bytes);
    assertEquals(seen, expected);
    assert(answer.startsWith("HTTP/1.1 200 "));
  });
}

Deno.test("front door ends the request if an upload breaks off", () => {
  const seen: string[] = [];
  return withFrontDoor(tellRequest(seen), async (env) => {
    const { cert, key } = env.alpha;
    const options = { hostname: "localhost", port: env.port, caCerts: [env.ca], cert, key };
    const connection = await Deno.connectTls(options);
    await connection.write(
      new TextEncoder().encode("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\nab"),
    );
    connection.close();
    const other = await Deno.connectTls(options);
    await other.write(new TextEncoder().encode(`GET / HTTP/1.1\r\n${closing}\r\n`));
    await new Response(other.readable).text();
    assertEquals(seen, ["GET https://api.example/ 0 "]);
    assertEquals(env.failures, []);
  });
});
