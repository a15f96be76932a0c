/** `deno task serve`: the platform as a process of its own behind its proxy, from start to SIGTERM. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { good, pay, requestToken } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { clientAssertion, dpopProof } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { isOnOtherRuntime } from "testing/other_runtime.ts";
import { type LogLine, startPlatform } from "testing/served_platform.ts";
import { openFixture, openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import { AUTH_URL, BASE_URL, PROXY_SECRET } from "testing/environment.ts";

Deno.test("serve takes a payment from token to order, in production, over its own listener [F3]", async () => {
  await using environment = await openServedEnvironment();
  const payment = await good(pay(environment, await authorised(environment)), 201);
  assertEquals(payment.Data.Status, "AcceptedSettlementInProcess");
  assertEquals(
    payment.Links.Self,
    `${BASE_URL}/BANKA/domestic-payments/v1/${payment.Data.DomesticPaymentId}`,
  );
});

Deno.test("serve writes its database for the owner alone", { ignore: isOnOtherRuntime }, async () => {
  await using environment = await openServedEnvironment();
  for (const name of ["platform.kv", "platform.kv-shm", "platform.kv-wal"]) {
    const { mode } = await Deno.stat(`${environment.fixture.folder}/${name}`);
    assertEquals((mode ?? 0) & 0o777, 0o600, name);
  }
});

Deno.test("serve says where it listens, and its log names no token, code, proof, assertion or secret [FAPI-G21]", async () => {
  await using environment = await openServedEnvironment({ PLATFORM_LOG_LEVEL: "debug" });
  const flow = await authorised(environment);
  const payment = await good(pay(environment, flow), 201);
  const [first] = environment.process.lines;
  assertEquals([first?.["event"], first?.["baseUrl"], first?.["authUrl"]], [
    "platform.listening",
    BASE_URL,
    AUTH_URL,
  ]);
  const isPayment = ({ path, status }: LogLine): boolean =>
    path === "/BANKA/domestic-payments/v1" && status === 201;
  await environment.process.logged("request.answered", isPayment); // the log is written after the answer
  const answered = environment.process.lines.filter(({ event }) => event === "request.answered");
  assert(answered.every(({ interactionId }) => /^[0-9a-f-]{36}$/.test(String(interactionId))));
  const text = JSON.stringify(environment.process.lines);
  assert(payment.Data.ConsentId === flow.consentId);
  for (
    const secret of [flow.bound.token, flow.payment.token, flow.requestUri, PROXY_SECRET, "eyJ", "oAuthUrl"]
  ) {
    assert(!text.includes(secret), secret);
  }
});

Deno.test("serve does not answer for a certificate without the proxy's secret [H1]", async () => {
  await using environment = await openServedEnvironment();
  const url = `http://127.0.0.1:${environment.fixture.env["PORT"]}/BANKA/token.oauth2/v1`;
  const certificate = `:${environment.tpp.transport.certificate}:`;
  for (const secret of [undefined, "", "x".repeat(PROXY_SECRET.length), `${PROXY_SECRET}0`]) {
    const headers = new Headers({ "client-cert": certificate, dpop: "x" });
    if (secret !== undefined) headers.set("x-proxy-secret", secret);
    const answer = await fetch(url, { method: "POST", headers, body: new URLSearchParams({ a: "b" }) });
    assertEquals([answer.status, (await rejectionOf(answer)).error], [401, "invalid_client"], secret);
  }
});

Deno.test("serve ends on SIGTERM with 0, after the request under way has its answer", async () => {
  await using environment = await openServedEnvironment();
  const late = await openTokenRequest(environment);
  environment.process.kill("SIGTERM");
  await environment.process.logged("platform.stopping");
  const rejected = await environment.browser(new Request(`${AUTH_URL}/jwks`));
  assertEquals([rejected.status, (await rejectionOf(rejected)).error], [503, "temporarily_unavailable"]);
  assertEquals((await late.finish()).split("\r\n")[0], "HTTP/1.1 200 OK");
  assertEquals(await environment.process.ended, { code: 0, stderr: "" });
  const events = environment.process.lines.map(({ event }) => event);
  assertEquals(events.slice(-2), ["request.answered", "platform.stopped"]);
});

Deno.test("serve ends on SIGINT with 0 although connections are kept open", async () => {
  await using environment = await openServedEnvironment();
  const idle = await Deno.connect({ hostname: "127.0.0.1", port: Number(environment.fixture.env["PORT"]) });
  await idle.write(new TextEncoder().encode("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"));
  await idle.read(new Uint8Array(4096));
  environment.process.kill("SIGINT");
  assertEquals((await environment.process.ended).code, 0);
  idle.close();
});

Deno.test("serve needs no file but its own folder's, and no variable after its start [F7]", async () => {
  await using environment = await openServedEnvironment();
  const { folder, env } = environment.fixture;
  environment.process.kill("SIGTERM");
  await environment.process.ended;
  const narrow = { "--allow-read": `--allow-read=${folder}`, "--allow-write": `--allow-write=${folder}` };
  const again = await startPlatform(folder, env, narrow);
  try {
    await again.ready;
    assertEquals((await pay(environment, await authorised(environment))).status, 201);
    again.kill("SIGHUP");
    assertEquals((await again.logged("platform_keys.renewed"))["published"], 2);
  } finally {
    again.kill("SIGTERM");
    assertEquals((await again.ended).code, 0);
  }
});

Deno.test("serve finds its data again after a restart", async () => {
  await using environment = await openServedEnvironment();
  const { access_token: token } = await good(requestToken(environment, environment.tpp), 200);
  assertMatch(token, /^[A-Za-z0-9_-]{43}$/);
  environment.process.kill("SIGTERM");
  await environment.process.ended;
  const again = await startPlatform(environment.fixture.folder, environment.fixture.env);
  try {
    await again.ready;
    assertEquals((await requestToken(environment, environment.tpp)).status, 200); // still registered
  } finally {
    again.kill("SIGTERM");
    assertEquals((await again.ended).code, 0);
  }
});

/** A token request whose body is half sent; `finish` sends the rest and gives the whole answer. */
async function openTokenRequest(environment: ServedEnvironment): Promise<{ finish(): Promise<string> }> {
  const path = "/BANKA/token.oauth2/v1";
  const body = String(
    new URLSearchParams({
      grant_type: "client_credentials",
      scope: "payments",
      client_id: environment.tpp.clientId,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await clientAssertion(environment, environment.tpp, "BANKA"),
    }),
  );
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: api",
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${body.length}`,
    "Expect: 100-continue", // the answer to this says that the platform reads the body
    `DPoP: ${await dpopProof(environment, await testKey(9), { method: "POST", url: `${BASE_URL}${path}` })}`,
    `x-proxy-secret: ${PROXY_SECRET}`,
    `Client-Cert: :${environment.tpp.transport.certificate}:`,
  ];
  const connection = await Deno.connect({
    hostname: "127.0.0.1",
    port: Number(environment.fixture.env["PORT"]),
  });
  const send = (text: string): Promise<number> => connection.write(new TextEncoder().encode(text));
  await send(`${head.join("\r\n")}\r\n\r\n${body.slice(0, 10)}`);
  const begun = new Uint8Array(64);
  const size = await connection.read(begun);
  assertMatch(new TextDecoder().decode(begun.subarray(0, size ?? 0)), /^HTTP\/1\.1 100 Continue/);
  return {
    async finish(): Promise<string> {
      await send(body.slice(10));
      return await new Response(connection.readable).text();
    },
  };
}

Deno.test("a running platform can neither read the environment, write files nor run programs [F7]", {
  ignore: isOnOtherRuntime,
}, async () => {
  await using fixture = await openFixture();
  const { folder, env } = fixture;
  await Deno.writeTextFile(
    `${folder}/watch.ts`,
    `const asked = [{ name: "env", variable: "PLATFORM_PROXY_SECRET" }, { name: "write", path: "${folder}" },
      { name: "write", path: "${folder}/platform.kv" }, { name: "run" }, { name: "ffi" }, { name: "sys" }];
    const health = "http://127.0.0.1:${env["PORT"]}/health/live";
    const watch = async () => {
      if (!await fetch(health).then(({ ok }) => ok, () => false)) return again();
      const rights = asked.map((one) => Deno.permissions.querySync(one).state).join(" ");
      console.log(JSON.stringify({ event: "rights", rights }));
    };
    const again = () => Deno.unrefTimer(setTimeout(watch, 100)); // the platform starts when nothing is awaited here
    if (Deno.permissions.querySync(asked[0]).state === "granted") again();`,
  );
  const process = await startPlatform(folder, env, { "--no-prompt": `--preload=${folder}/watch.ts` });
  try {
    const { rights } = await process.logged("rights");
    assertEquals(rights, Array(6).fill("prompt").join(" ")); // not granted
  } finally {
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0);
  }
});
