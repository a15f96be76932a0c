/** Cases that need raw bytes on a connection: repeated header lines, bodies of GETs, white space, request targets. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Consent, ResourceError } from "testing/answers.ts";
import { type BoundToken, clientToken, consentBody } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { dpopProof, payloadSignature } from "testing/jwts.ts";
import { unexplained, verifyAnswer } from "testing/resource_answers.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { test } from "support/environment_test.ts";
import { BASE_URL, type Environment, PROXY_SECRET } from "testing/environment.ts";

/** An answer as it came over the connection. */
interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** The platform's API behind a listener of its own on loopback. */
async function served(env: Environment, act: (port: number) => Promise<void>): Promise<void> {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => env.platform.api.fetch(request),
  );
  try {
    await act(server.addr.port);
  } finally {
    await server.shutdown();
  }
}

/** Sends a request line, header lines and body bytes as they are; reads the whole answer. */
async function exchange(port: number, lines: readonly string[], body = ""): Promise<RawAnswer> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const head = [...lines, "connection: close", "", ""].join("\r\n");
  const bytes = new TextEncoder().encode(head + body);
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
  const text = await new Response(connection.readable).text();
  const [top = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...headerLines] = top.split("\r\n");
  const headers = new Headers(headerLines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }));
  return { status: Number(statusLine.split(" ")[1]), headers, body: rest.join("\r\n\r\n") };
}

/** Header lines of a call by the environment's TPP; `extra` lines come after them. */
async function lines(
  env: Environment,
  request: { method: string; path: string; token: BoundToken; target?: string; htu?: string },
  ...extra: string[]
): Promise<string[]> {
  const { method, path, token } = request;
  const proof = await dpopProof(env, token.key, {
    method,
    url: request.htu ?? BASE_URL + path,
    accessToken: token.token,
  });
  return [
    `${method} ${request.target ?? path} HTTP/1.1`,
    "host: api.platform.example",
    `x-proxy-secret: ${PROXY_SECRET}`,
    `client-cert: :${env.tpp.transport.certificate}:`,
    `authorization: DPoP ${token.token}`,
    `dpop: ${proof}`,
    ...extra,
  ];
}

/** Header lines of a signed POST of a consent. */
async function postLines(
  env: Environment,
  token: BoundToken,
  body: string,
  ...extra: string[]
): Promise<string[]> {
  return await lines(
    env,
    { method: "POST", path: CONSENTS, token },
    "content-type: application/json",
    `content-length: ${new TextEncoder().encode(body).length}`,
    `x-jws-signature: ${await payloadSignature(env, env.tpp, body)}`,
    ...extra,
  );
}

test("GET domestic-payment-consents/{id} ignores a body [CON-22]", async ({ env, t }) => {
  const { bound, consentId } = await authorised(env);
  const get = { method: "GET", path: `${CONSENTS}/${consentId}`, token: bound };
  await served(env, async (port) => {
    for (const [name, body] of [["JSON", "{}"], ["rubbish", "{{{"]] as const) {
      await t.step(name, async () => {
        const head = await lines(
          env,
          get,
          "content-type: application/json",
          `content-length: ${body.length}`,
        );
        const answer = await exchange(port, head, body);
        assertEquals(answer.status, 200, answer.body);
        assertEquals((JSON.parse(answer.body) as Consent).Data.ConsentId, consentId);
      });
    }
    await t.step("Content-Type without a body, as the contract allows", async () => {
      const answer = await exchange(port, await lines(env, get, "content-type: application/json"));
      assertEquals(answer.status, 200, answer.body);
    });
  });
});

test("repeated header lines are rejected [RG-N3] [DP-N2] [RP-N2]", async ({ env, t }) => {
  const token = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  const rejected = async (
    port: number,
    name: string,
    status: number,
    challenge: string | null,
  ): Promise<void> => {
    await t.step(name, async () => {
      const head = await postLines(env, token, body, "x-idempotency-key: k");
      const again = head.filter((line) => line.startsWith(`${name}: `));
      assertEquals(again.length, 1);
      const answer = await exchange(port, [...head, ...again], body);
      const given = answer.headers.get("www-authenticate");
      assertEquals([answer.status, given && unexplained(given)], [status, challenge]);
      if (status === 401) assertEquals(answer.body, "");
    });
  };
  const before = (await env.snapshot()).length;
  await served(env, async (port) => {
    await rejected(port, "authorization", 400, 'DPoP error="invalid_request", algs="PS256"');
    await rejected(port, "dpop", 401, 'DPoP error="invalid_dpop_proof", algs="PS256"');
    await rejected(port, "client-cert", 401, 'DPoP error="invalid_token", algs="PS256"');
    await rejected(port, "x-jws-signature", 400, null);
  });
  assertEquals((await env.snapshot()).length, before);
});

test("white space around an x-idempotency-key is the line's, not the key's (RFC 9110 §5.5) [IDE-07]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  await served(env, async (port) => {
    const one = await exchange(port, await postLines(env, token, body, "x-idempotency-key:   k \t"), body);
    const other = await exchange(port, await postLines(env, token, body, "x-idempotency-key: k"), body);
    assertEquals([one.status, other.status], [201, 201]);
    const [made, repeated] = [one, other].map(({ body }) => (JSON.parse(body) as Consent).Data.ConsentId);
    assertEquals(made, repeated);
    const blank = await exchange(port, await postLines(env, token, body, "x-idempotency-key:    "), body);
    assertEquals(blank.status, 400);
    assertEquals((JSON.parse(blank.body) as ResourceError).Errors[0]?.Path, "x-idempotency-key");
  });
});

test("an absolute request target and a foreign Host move nothing: the configured URL counts [DP-N21]", async ({ env, t }) => {
  const { bound, consentId } = await authorised(env);
  const path = `${CONSENTS}/${consentId}`;
  await served(env, async (port) => {
    const ask = async (target: string, host: string, htu: string): Promise<RawAnswer> => {
      const head = await lines(env, { method: "GET", path, token: bound, target, htu });
      return await exchange(port, head.map((line) => line.startsWith("host:") ? `host: ${host}` : line));
    };
    const evil = `https://evil.example${path}`;
    for (const [name, target] of [["absolute target", evil], ["Host", path]] as const) {
      await t.step(`${name}: a proof for the evil URL`, async () => {
        const answer = await ask(target, "evil.example", evil);
        assertEquals([answer.status, answer.body], [401, ""]);
        const challenge = unexplained(answer.headers.get("www-authenticate") ?? "");
        assertEquals(challenge, 'DPoP error="invalid_dpop_proof", algs="PS256"');
      });
      await t.step(`${name}: a proof for the platform's URL`, async () => {
        const answer = await ask(target, "evil.example", BASE_URL + path);
        assertEquals(answer.status, 200, answer.body);
        assertEquals((JSON.parse(answer.body) as Consent).Links.Self, BASE_URL + path);
      });
    }
  });
});

test("a POST in chunks is read up to the limit and no further [RP-N14]", async ({ env, t }) => {
  const token = await clientToken(env, env.tpp);
  const chunked = (parts: readonly string[]): string =>
    [...parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`), "0\r\n\r\n"].join("");
  const send = async (port: number, body: string, parts: readonly string[]): Promise<RawAnswer> => {
    const head = (await postLines(env, token, body, `x-idempotency-key: ${crypto.randomUUID()}`))
      .map((line) => line.startsWith("content-length") ? "transfer-encoding: chunked" : line);
    return await exchange(port, head, chunked(parts));
  };
  const body = JSON.stringify(consentBody());
  await served(env, async (port) => {
    await t.step("a good body byte by byte", async () => {
      const answer = await send(port, body, [...body]);
      assertEquals(answer.status, 201, answer.body);
    });
    await t.step("64 KiB and one byte", async () => {
      const answer = await send(port, body, [body, " ".repeat(65_537 - body.length)]);
      assertEquals(answer.status, 413, answer.body);
    });
  });
});

test("answers carry Date, and their signature covers the bytes on the line [JWS-15] [RG-N15] [FAPI-G14]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  await served(env, async (port) => {
    const answer = await exchange(port, await postLines(env, token, body, "x-idempotency-key: k"), body);
    assertEquals(answer.status, 201);
    assertMatch(answer.headers.get("date") ?? "", / GMT$/);
    assert(Math.abs(Date.parse(answer.headers.get("date") ?? "") - Date.now()) < 60_000);
    assertEquals(answer.headers.get("cache-control"), "no-store");
    await verifyAnswer(env, new Response(answer.body, { headers: answer.headers }));
    assertEquals(answer.headers.get("content-length"), String(new TextEncoder().encode(answer.body).length));
  });
});
