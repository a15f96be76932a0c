/**
 * Attacks on the directory's port: odd paths, odd framing, endless bodies. No data leaks, and unbounded input is not
 * read.
 */
import { assert, assertEquals } from "@std/assert";
import {
  ADMIN_TOKEN,
  bank,
  type DirectoryEnvironment,
  ISSUER,
  openDirectoryEnvironment,
  thirdParty,
} from "testing/directory_environment.ts";
import { steps, stepsOf } from "support/steps.ts";

/** A directory with a participant on a port of this computer. */
interface Port extends AsyncDisposable {
  readonly env: DirectoryEnvironment;
  /** Sends these characters and returns the status and the rest of the first response. */
  say(text: string): Promise<{ readonly status: number; readonly rest: string }>;
}

const AUTHORIZED = `Authorization: Bearer ${ADMIN_TOKEN}\r\n`;
const JSON_TYPE = "Content-Type: application/json\r\n";

/** Paths and the only correct status of each. */
const PATHS: readonly [path: string, status: number][] = [
  ["/participants/SHOP", 401],
  ["/participants/SHOP/history", 401],
  ["/%70articipants/SHOP", 401],
  ["/participants/%53HOP", 401],
  ["/participants/SHOP/%68istory", 401],
  ["/participants/SHOP?/jwks", 401],
  ["/participants/SHOP;/jwks", 404],
  ["/participants/SHOP#/jwks", 401],
  ["/participants/SHOP/jwks/../history", 404],
  ["/participants/SHOP/./history", 404],
  ["/participants//SHOP/history", 404],
  ["//participants/SHOP/history", 404],
  ["/participants/SHOP/history/", 404],
  ["/participants/SHOP%2fhistory", 401],
  ["/participants/SHOP%2f..%2fBANKA/jwks", 404],
  ["/participants/%2e%2e/jwks", 404],
  ["/participants/SHOP%00/jwks", 404],
  ["/participants/shop/jwks", 404],
  ["/participants/SHOP%20/jwks", 404],
  ["/participants/__proto__/jwks", 404],
  ["/participants/constructor/jwks", 404],
  ["/participants/%ff/jwks", 404],
  ["/participants/%/jwks", 404],
  ["/PARTICIPANTS/SHOP/jwks", 404],
  ["/directory.kv", 404],
  ["/.env", 404],
  ["/../../etc/passwd", 404],
  ["/ca.key.pem", 404],
  ["http://directory.example/participants/SHOP/history", 401],
];

Deno.test("odd paths lead to no administrators' answer and to no 500", async (t) => {
  await using port = await openPort();
  await stepsOf(t, PATHS, ([path]) => path, async ([path, status]) => {
    const answer = await port.say(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    assertEquals(answer.status, status, answer.rest);
    assert(!/ana@shop\.example|BEGIN|participant\.onboarded/.test(answer.rest), answer.rest);
  });
});

/** Requests that two parsers could read differently. */
const FRAMING: Readonly<Record<string, readonly [head: string, body: string, status: number]>> = {
  "two tokens": [`Authorization: Bearer x\r\n${AUTHORIZED}${JSON_TYPE}Content-Length: 2\r\n`, "{}", 401],
  "a token twice": [`${AUTHORIZED}${AUTHORIZED}${JSON_TYPE}Content-Length: 2\r\n`, "{}", 401],
  "two lengths": [`${AUTHORIZED}${JSON_TYPE}Content-Length: 2\r\nContent-Length: 3\r\n`, "{}", 400],
  "a length and chunks": [
    `${AUTHORIZED}${JSON_TYPE}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`,
    "2\r\n{}\r\n0\r\n\r\n",
    400,
  ],
  "a length below zero": [`${AUTHORIZED}${JSON_TYPE}Content-Length: -1\r\n`, "{}", 400],
  "two hosts": [`Host: y\r\n${AUTHORIZED}${JSON_TYPE}Content-Length: 2\r\n`, "{}", 400],
  "another method in a header": [
    `${AUTHORIZED}${JSON_TYPE}X-HTTP-Method-Override: GET\r\nContent-Length: 2\r\n`,
    "{}",
    400, // an onboarding request without members
  ],
};

Deno.test("requests of odd framing are rejected, and onboard no participant", async (t) => {
  await using port = await openPort();
  await steps(t, FRAMING, async ([head, body, status]) => {
    const answer = await port.say(
      `POST /participants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n${body}`,
    );
    assertEquals(answer.status, status, answer.rest);
  });
  assertEquals((await port.env.get("/participants")).body.length, 1);
});

Deno.test("an endless body is not read without a token, and with one no further than 64 KiB", async () => {
  await using env = await openDirectoryEnvironment();
  for (const [token, status, most] of [["wrong", 401, 1], [ADMIN_TOKEN, 413, 18]] as const) {
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller): void {
        if (++chunks > 1000) throw new Error("4 MiB were read");
        controller.enqueue(new Uint8Array(4096).fill(0x20));
      },
    });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = new Request(`${ISSUER}/participants`, { method: "POST", headers, body });
    assertEquals((await env.fetch(request)).status, status);
    assert(chunks <= most, `${chunks} chunks`);
  }
});

Deno.test("organisations of odd names are like any other, and are not confused with each other", async (t) => {
  await using env = await openDirectoryEnvironment();
  for (const org_id of ["__proto__", "constructor", "toString", "jwks"]) {
    await t.step(`${org_id} is reserved`, async () => {
      const { status, body } = await env.admin("POST", "/participants", await bank([0, 1], { org_id }));
      assertEquals([status, body.error], [400, "invalid_request"]);
      assertEquals((await env.get(`/participants/${org_id}/jwks`)).status, 404);
    });
  }
  const names = ["revoked", "participants", "--help", "__"];
  await stepsOf(t, names.entries(), ([, org_id]) => org_id, async ([index, org_id]) => {
    const keys = [index * 2, index * 2 + 1] as const;
    const { status, body } = await env.admin("POST", "/participants", await bank(keys, { org_id }));
    assertEquals([status, body.org_id], [201, org_id]);
    assertEquals((await env.get(`/participants/${org_id}/jwks`)).body, body.jwks);
    assertEquals((await env.get(`/participants/${org_id}/jwks/revoked`)).body, { keys: [] });
    assertEquals((await env.admin("GET", `/participants/${org_id}/history`)).body.history.length, 1);
  });
  const listed = (await env.get("/participants")).body.map(({ org_id }) => org_id);
  assertEquals(listed.toSorted(), names.toSorted());
});

async function openPort(): Promise<Port> {
  const env = await openDirectoryEnvironment();
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  const listen = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const server = Deno.serve(listen, (request) => env.fetch(request));
  return {
    env,
    say: (text) => say(server.addr.port, text),
    async [Symbol.asyncDispose](): Promise<void> {
      await server.shutdown();
      await env[Symbol.asyncDispose]();
    },
  };
}

async function say(port: number, text: string): Promise<{ status: number; rest: string }> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  const buffer = new Uint8Array(65_536);
  let answer = "";
  while (!isWhole(answer)) {
    const size = await connection.read(buffer);
    if (size === null) break;
    answer += new TextDecoder().decode(buffer.subarray(0, size));
  }
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]), rest: answer };
}

function isWhole(answer: string): boolean {
  const [head = "", body] = answer.split("\r\n\r\n");
  const length = Number(/^content-length: (\d+)\r?$/im.exec(head)?.[1] ?? 0);
  return body !== undefined && body.length >= length;
}
