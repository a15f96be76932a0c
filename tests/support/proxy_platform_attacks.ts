/** The platform in production behind a real proxy: whose certificate counts, and what gets past (contract H1-H12, H20-H22). */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { call, clientToken, good, pay, requestToken } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { signJwt } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { onboardOnly, type Participant, registrationClaims } from "testing/participants.ts";
import { openProxiedEnvironment, type ProxiedEnvironment, transportOf } from "./proxied_environment.ts";
import { proxyTest, type ProxyUnderTest } from "./proxy_program.ts";
import { asTheProxy } from "testing/served_environment.ts";
import { certificatePem, issue, type TlsIdentity } from "testing/web_authority.ts";
import { AUTH_URL, BASE_URL, PROXY_SECRET } from "testing/environment.ts";
import { privatePem } from "testing/directory_environment.ts";

/** Registers the tests. `withoutCertificate`: the proxy answers 401 itself, or ends the handshake. */
export function platformAttacks(proxy: ProxyUnderTest, withoutCertificate: 401 | "handshake"): void {
  const test = (what: string, fn: (env: ProxiedEnvironment) => Promise<void>): void =>
    proxyTest(proxy, what, async (program) => {
      await using env = await openProxiedEnvironment(proxy.name, program);
      await fn(env);
    });

  test("carries a payment from token to order, and names no secret in its log [FAPI-G21]", async (env) => {
    const flow = await authorised(env);
    const payment = await good(pay(env, flow), 201);
    assertEquals(payment.Data.Status, "AcceptedSettlementInProcess");
    const log = await logWith(
      env,
      proxy.name === "nginx" ? "/domestic-payments/v1" : "\\/domestic-payments\\/v1",
    );
    assert(log.includes("authorization.sca.oauth2"), log);
    for (const secret of ["eyJ", "oAuthUrl", "request_uri", "code=", flow.payment.token, PROXY_SECRET]) {
      assert(!log.includes(secret), secret);
    }
  });

  test("lets no request without a certificate reach the API host [H3]", async (env) => {
    const request = (): Request =>
      new Request(`${BASE_URL}/BANKA/token.oauth2/v1`, {
        method: "POST",
        headers: { "client-cert": `:${env.tpp.transport.certificate}:`, "x-proxy-secret": PROXY_SECRET },
        body: new URLSearchParams({ grant_type: "client_credentials" }),
      });
    if (withoutCertificate === "handshake") {
      await assertRejects(() => env.sendAs(undefined, request()), TypeError);
    } else {
      const answer = await env.sendAs(undefined, request());
      assertEquals([answer.status, (await rejectionOf(answer)).error], [
        withoutCertificate,
        "invalid_client",
      ]);
    }
    assertEquals(env.process.lines.filter(({ path }) => path === "/BANKA/token.oauth2/v1"), []);
  });

  test("gives nobody the place of another participant [H2, H9, H11, H12]", async (env) => {
    assertEquals((await requestToken(env, env.tpp)).status, 200);
    const bound = await clientToken(env, env.tpp);
    const path = "/BANKA/domestic-payment-consents/v1/00000000-0000-4000-8000-000000000000";
    assertEquals((await call(env, env.tpp, bound, path)).status, 400, "its own: not found");
    for (const [who, identity] of await wrongIdentities(env)) {
      const disguised = {
        ...env,
        api: (request: Request) => env.sendAs(identity, withForgedHeaders(request, env.tpp)),
      };
      const token = await requestToken(disguised, env.tpp);
      assertEquals([token.status, (await rejectionOf(token)).error], [401, "invalid_client"], who);
      assertEquals((await call(disguised, env.tpp, bound, path)).status, 401, who);
    }
    const mine = {
      ...env,
      api: (request: Request) => env.api(withForgedHeaders(request, env.bankA), env.tpp),
    };
    assertEquals((await requestToken(mine, env.tpp)).status, 200, "the handshake's certificate counts");
  });

  test("is the only way in: the platform's own port believes no header [H1]", async (env) => {
    const outsider = await onboardOnly(env.fixture, {
      name: "Outsider Ltd",
      role: "PISP",
      keys: [2, 3],
      redirectUris: ["https://outsider.example/callback"],
    });
    const body = await signJwt(outsider.signing, registrationClaims(env, outsider));
    const register = (headers: HeadersInit): Request =>
      new Request(`${BASE_URL}/register/v1`, { method: "POST", headers, body });
    const direct = asTheProxy(String(env.backendPort));
    for (const secret of ["", "x".repeat(PROXY_SECRET.length)]) {
      const request = withForgedHeaders(register({ "content-type": "application/jose" }), outsider);
      request.headers.set("x-proxy-secret", secret);
      const answer = await fetch(`http://127.0.0.1:${env.backendPort}/register/v1`, {
        method: "POST",
        headers: request.headers,
        body,
      });
      assertEquals([answer.status, (await rejectionOf(answer)).error], [401, "invalid_client"]);
    }
    // With the secret, it is the proxy: this is what the secret guards.
    const answer = await direct(
      withForgedHeaders(register({ "content-type": "application/jose" }), outsider),
      outsider,
    );
    assertEquals(answer.status, 201);
    await answer.body?.cancel();
  });

  test("reflects no certificate, and lets no answer be cached [H21, FAPI-G12]", async (env) => {
    const answers = [
      await requestToken(env, env.tpp),
      await env.api(new Request(`${BASE_URL}/nowhere`), env.tpp),
      await env.api(new Request(`${BASE_URL}/BANKA/domestic-payments/v1/x`), env.tpp),
    ];
    for (const answer of answers) {
      const text = JSON.stringify([...answer.headers]) + await answer.text();
      assert(
        !text.includes(env.tpp.transport.certificate.slice(0, 200)) && !text.includes("BEGIN%20CERT"),
        text,
      );
      assertEquals(answer.headers.get("cache-control"), "no-store");
    }
    assert(!(await (await env.browser(new Request(`${AUTH_URL}/jwks`))).text()).includes('"d"'));
  });

  test("answers 503 while the platform is away and serves again when it is back", async (env) => {
    env.process.kill("SIGTERM");
    await env.process.ended;
    const away = await env.api(new Request(`${BASE_URL}/BANKA/token.oauth2/v1`), env.tpp);
    assertEquals([away.status, (await rejectionOf(away)).error], [503, "temporarily_unavailable"]);
    assertEquals(away.headers.get("content-type"), "application/json");
    const page = await env.browser(new Request(`${AUTH_URL}/BANKA/authorization.oauth2`));
    assertEquals([page.status, page.headers.get("content-type")], [503, "text/html; charset=utf-8"]);
    assertEquals(page.headers.get("cache-control"), "no-store");
    assertMatch(page.headers.get("content-security-policy") ?? "", /^default-src 'none'/);
    const html = await page.text();
    for (const words of ["<h1>This page is not available", "No pagará dos veces", 'lang="ar" dir="rtl"']) {
      assertStringIncludes(html, words);
    }
    const form = { method: "POST", body: new URLSearchParams({ decision: "accept" }) };
    const posted = await env.browser(new Request(`${AUTH_URL}/BANKA/consent/1`, form));
    assertEquals([posted.status, await posted.text()], [503, html]);
    for (const answer of [away, page]) assertEquals(answer.headers.get("retry-after"), "5");
    assertEquals(
      page.headers.get("strict-transport-security"),
      "max-age=63072000; includeSubDomains; preload",
    );
    await env.restart();
    assertEquals((await requestToken(env, env.tpp)).status, 200);
  });
}

/** The proxy's log once it has these words: it writes when it has the time. */
async function logWith(env: ProxiedEnvironment, words: string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const log = await env.accessLog();
    if (log.includes(words)) return log;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the proxy never wrote ${words}`);
}

/** The TPP's own claims under certificates that are not the TPP's transport certificate. */
async function wrongIdentities(env: ProxiedEnvironment): Promise<[string, TlsIdentity][]> {
  const { tpp, fixture } = env;
  const twin = await issue(fixture.participantsCa, await testKey(15), await testKey(3), {
    subject: `CN=${tpp.name} transport, O=${tpp.name}`,
  });
  const signing = {
    certificatePem: certificatePem(tpp.signing.certificate),
    privateKeyPem: await privatePem(tpp.signing.key),
  };
  return [
    ["another participant's", await transportOf(env.bankA)],
    ["of the same name and authority, another key", twin],
    ["its own signing certificate", signing],
  ];
}

/** The request with every header by which a proxy could speak of this participant. */
function withForgedHeaders(request: Request, victim: Participant): Request {
  const forged = new Request(request);
  const { certificate } = victim.transport;
  const escaped = encodeURIComponent(certificatePem(certificate));
  forged.headers.set("client-cert", `:${certificate}:`);
  forged.headers.set("client_cert", `:${certificate}:`);
  forged.headers.set("client-cert-chain", `:${certificate}:`);
  forged.headers.set("x-ssl-client-cert", escaped);
  forged.headers.set("x_ssl_client_cert", escaped);
  forged.headers.set("x-forwarded-client-cert", `Cert="${escaped}"`);
  forged.headers.set("x-proxy-secret", PROXY_SECRET);
  return forged;
}
