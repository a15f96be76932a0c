/** The sandbox's TLS front door with real TLS: who may enter, and what the platform is told about them. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fetchAs, PROXY_SECRET, withFrontDoor } from "support/front_door_environment.ts";

interface Told {
  readonly url: string;
  readonly headers: [string, string][];
}

function tellHeaders(request: Request): Response {
  return Response.json({ url: request.url, method: request.method, headers: [...request.headers] });
}

function headersIn(text: string): Headers {
  return new Headers((JSON.parse(text) as Told).headers);
}

Deno.test("front door rejects connections without a client certificate [A7]", () =>
  withFrontDoor(tellHeaders, async (env) => {
    await assertRejects(() => fetchAs(env, undefined, `${env.url}/`), TypeError);
  }));

Deno.test("front door rejects a certificate of another authority of the same name [H9]", () =>
  withFrontDoor(tellHeaders, async (env) => {
    await assertRejects(() => fetchAs(env, env.outsider, `${env.url}/`), TypeError);
  }));

Deno.test("front door rejects its own server certificate as a client's", () =>
  withFrontDoor(tellHeaders, async (env) => {
    const server = { cert: env.server.certificate, key: env.server.key };
    await assertRejects(() => fetchAs(env, server, `${env.url}/`), TypeError);
  }));

Deno.test("front door hands over the peer's certificate and the proxy secret [A8]", () =>
  withFrontDoor(tellHeaders, async (env) => {
    const headers = headersIn((await fetchAs(env, env.alpha, `${env.url}/`)).text);
    assertEquals(headers.get("client-cert"), env.alpha.clientCertHeader);
    assertEquals(headers.get("x-proxy-secret"), PROXY_SECRET);
  }));

Deno.test("front door drops what only a proxy may say, in any spelling [H2, H4, H8, H13, H17]", () =>
  withFrontDoor(tellHeaders, async (env) => {
    const spoofed = [
      ["Client-Cert", env.beta.clientCertHeader],
      ["client_cert", env.beta.clientCertHeader],
      ["CLIENT.CERT", env.beta.clientCertHeader],
      ["Client-Cert-Chain", env.beta.clientCertHeader],
      ["X-Proxy-Secret", "guess"],
      ["x_proxy_secret", "guess"],
      ["X-Forwarded-Client-Cert", "Cert=x"],
      ["X-Forwarded-Host", "evil.example"],
      ["X_Forwarded_For", "10.0.0.1"],
      ["Forwarded", "for=10.0.0.1"],
      ["X-Real-IP", "10.0.0.1"],
      ["X-SSL-Client-Cert", "x"],
      ["x_ssl_client_verify", "SUCCESS"],
    ] as const;
    const answer = await fetchAs(env, env.alpha, `${env.url}/`, {
      headers: spoofed.map(([n, v]): [string, string] => [n, v]),
    });
    const headers = headersIn(answer.text);
    assertEquals(headers.get("client-cert"), env.alpha.clientCertHeader);
    assertEquals(headers.get("x-proxy-secret"), PROXY_SECRET);
    const proxyWords = [...headers.keys()].filter((name) => /cert|secret|forwarded|real|ssl/.test(name))
      .toSorted();
    assertEquals(proxyWords, ["client-cert", "x-proxy-secret"]);
  }));

Deno.test("front door keeps two clients apart on connections that stay open [H16]", () =>
  withFrontDoor(tellHeaders, async (env) => {
    const clients = [env.alpha, env.beta];
    const open = clients.map(({ cert, key }) => Deno.createHttpClient({ caCerts: [env.ca], cert, key }));
    try {
      for (let round = 0; round < 3; round++) {
        const texts = await Promise.all(
          open.map(async (client) => await (await fetch(`${env.url}/${round}`, { client })).text()),
        );
        assertEquals(
          texts.map((text) => headersIn(text).get("client-cert")),
          clients.map((client) => client.clientCertHeader),
        );
      }
    } finally {
      for (const client of open) client.close();
    }
  }));

Deno.test("front door knows the caller also where TLS resumes a session [H19]", () =>
  withFrontDoor(tellHeaders, async (env) => {
    const { cert, key } = env.alpha;
    // No idle connection is kept, so every request is a handshake, from the second on with the session kept by the client.
    using client = Deno.createHttpClient({ caCerts: [env.ca], cert, key, poolMaxIdlePerHost: 0 });
    for (let round = 0; round < 3; round++) {
      const text = await (await fetch(`${env.url}/`, { client, headers: { connection: "close" } })).text();
      assertEquals(headersIn(text).get("client-cert"), env.alpha.clientCertHeader);
    }
  }));

Deno.test("front door builds the URL from its configuration, whatever the Host says [A6, H14]", () =>
  withFrontDoor(tellHeaders, async (env) => {
    const answer = await fetchAs(env, env.alpha, `${env.url}/BANKA/x%2Fy?a=1&b=%20`);
    assertEquals((JSON.parse(answer.text) as Told).url, "https://api.example/BANKA/x%2Fy?a=1&b=%20");
    assertEquals(headersIn(answer.text).get("host"), null);
  }));

Deno.test("front door passes the exact body bytes and the media type", () =>
  withFrontDoor(async (request) => new Response(await request.bytes()), async (env) => {
    const body = Uint8Array.from({ length: 65_537 }, (_, index) => index % 251);
    const init = { method: "PUT", body, headers: { "content-type": "application/json" } };
    using client = Deno.createHttpClient({ caCerts: [env.ca], cert: env.alpha.cert, key: env.alpha.key });
    const response = await fetch(`${env.url}/`, { ...init, client });
    assertEquals(await response.bytes(), body);
  }));

Deno.test("front door answers 413 to more than 128 KiB, declared or streamed", () =>
  withFrontDoor(tellHeaders, async (env) => {
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    const exact = await fetchAs(env, env.alpha, `${env.url}/`, { ...init, body: new Uint8Array(131_072) });
    assertEquals(exact.status, 200);
    const declared = await fetchAs(env, env.alpha, `${env.url}/`, { ...init, body: new Uint8Array(131_073) });
    assertEquals(declared.status, 413);
    const stream = ReadableStream.from(Array.from({ length: 5 }, () => new Uint8Array(32_768)));
    const streamed = await fetchAs(env, env.alpha, `${env.url}/`, { ...init, body: stream });
    assertEquals(streamed.status, 413);
  }));

Deno.test("front door returns status, headers, cookies and body as the handler gave them", () =>
  withFrontDoor(() => {
    const headers = new Headers({ "x-fapi-interaction-id": "8a2f", "cache-control": "no-store" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    return new Response("created", { status: 201, headers });
  }, async (env) => {
    const answer = await fetchAs(env, env.alpha, `${env.url}/`, { method: "POST" });
    assertEquals(answer.status, 201);
    assertEquals(answer.text, "created");
    assertEquals(answer.headers.get("x-fapi-interaction-id"), "8a2f");
    assertEquals(answer.headers.getSetCookie(), ["a=1", "b=2"]);
    // Contract FAPI-G14: the Date header is there and right.
    assert(Math.abs(Date.parse(answer.headers.get("date") ?? "") - Date.now()) < 5000);
    // Contract H21: the certificate is never told back.
    assertEquals(answer.headers.get("client-cert"), null);
  }));

Deno.test("front door answers HEAD and 204 without a body", () =>
  withFrontDoor(
    (request) => request.method === "HEAD" ? new Response("body") : new Response(null, { status: 204 }),
    async (env) => {
      const head = await fetchAs(env, env.alpha, `${env.url}/`, { method: "HEAD" });
      assertEquals([head.status, head.text], [200, ""]);
      const gone = await fetchAs(env, env.alpha, `${env.url}/`, { method: "DELETE" });
      assertEquals([gone.status, gone.text], [204, ""]);
    },
  ));

Deno.test("front door answers 502 without words when the handler fails", () =>
  withFrontDoor(() => Promise.reject(new Error("database password is hunter2")), async (env) => {
    const answer = await fetchAs(env, env.alpha, `${env.url}/`);
    assertEquals([answer.status, answer.text], [502, "Bad gateway\n"]);
    assertEquals(env.failures.map((failure) => (failure as Error).message), ["database password is hunter2"]);
  }));
