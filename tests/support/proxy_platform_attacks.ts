/** The platform in production behind a real proxy: whose certificate counts, and what gets past (checklist H1-H12, H20-H22). */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { authorised, call, clientToken, good, pay, requestToken } from "../../scripts/testing/flows.ts";
import { signJwt } from "../../scripts/testing/jwts.ts";
import { testKey } from "../../scripts/testing/keys.ts";
import { onboardOnly, type Participant, registrationClaims } from "../../scripts/testing/participants.ts";
import { openProxiedWorld, type ProxiedWorld, transportOf } from "./proxied_environment.ts";
import { proxyTest, type ProxyUnderTest } from "./proxy_program.ts";
import { asTheProxy } from "../../scripts/testing/served_environment.ts";
import { certificatePem, issue, type TlsIdentity } from "../../scripts/testing/web_authority.ts";
import { AUTH_URL, BASE_URL, PROXY_SECRET } from "../../scripts/testing/environment.ts";
import { privatePem } from "../../scripts/testing/directory_environment.ts";

/** Registers the tests. `withoutCertificate`: the proxy answers 401 itself, or ends the handshake. */
export function platformAttacks(proxy: ProxyUnderTest, withoutCertificate: 401 | "handshake"): void {
  const test = (what: string, fn: (world: ProxiedWorld) => Promise<void>): void =>
    proxyTest(proxy, what, async (program) => {
      await using world = await openProxiedWorld(proxy.name, program);
      await fn(world);
    });

  test("carries a payment from token to order, and names no secret in its log [FAPI-G21]", async (world) => {
    const flow = await authorised(world);
    const payment = await good(pay(world, flow), 201);
    assertEquals(payment.Data.Status, "AcceptedSettlementInProcess");
    const log = await logWith(
      world,
      proxy.name === "nginx" ? "/domestic-payments/v1" : "\\/domestic-payments\\/v1",
    );
    assert(log.includes("authorization.sca.oauth2"), log);
    for (const secret of ["eyJ", "oAuthUrl", "request_uri", "code=", flow.payment.token, PROXY_SECRET]) {
      assert(!log.includes(secret), secret);
    }
  });

  test("lets no request without a certificate reach the API host [H3]", async (world) => {
    const request = (): Request =>
      new Request(`${BASE_URL}/BANKA/token.oauth2/v1`, {
        method: "POST",
        headers: { "client-cert": `:${world.tpp.transport.certificate}:`, "x-proxy-secret": PROXY_SECRET },
        body: new URLSearchParams({ grant_type: "client_credentials" }),
      });
    if (withoutCertificate === "handshake") {
      await assertRejects(() => world.sendAs(undefined, request()), TypeError);
    } else {
      const answer = await world.sendAs(undefined, request());
      assertEquals([answer.status, (await answer.json()).error], [withoutCertificate, "invalid_client"]);
    }
    assertEquals(world.process.lines.filter(({ path }) => path === "/BANKA/token.oauth2/v1"), []);
  });

  test("gives nobody the place of another participant [H2, H9, H11, H12]", async (world) => {
    assertEquals((await requestToken(world, world.tpp)).status, 200);
    const bound = await clientToken(world, world.tpp);
    const path = "/BANKA/domestic-payment-consents/v1/00000000-0000-4000-8000-000000000000";
    assertEquals((await call(world, world.tpp, bound, path)).status, 400, "its own: not found");
    for (const [who, identity] of await wrongIdentities(world)) {
      const disguised = {
        ...world,
        api: (request: Request) => world.sendAs(identity, withForgedHeaders(request, world.tpp)),
      };
      const token = await requestToken(disguised, world.tpp);
      assertEquals([token.status, (await token.json()).error], [401, "invalid_client"], who);
      assertEquals((await call(disguised, world.tpp, bound, path)).status, 401, who);
    }
    const mine = {
      ...world,
      api: (request: Request) => world.api(withForgedHeaders(request, world.bankA), world.tpp),
    };
    assertEquals((await requestToken(mine, world.tpp)).status, 200, "the handshake's certificate counts");
  });

  test("is the only way in: the platform's own port believes no header [H1]", async (world) => {
    const stranger = await onboardOnly(world.ground, {
      name: "Stranger Ltd",
      role: "PISP",
      keys: [2, 3],
      redirectUris: ["https://stranger.example/callback"],
    });
    const body = await signJwt(stranger.signing, registrationClaims(world, stranger));
    const register = (headers: HeadersInit): Request =>
      new Request(`${BASE_URL}/register/v1`, { method: "POST", headers, body });
    const direct = asTheProxy(String(world.backendPort));
    for (const secret of ["", "x".repeat(PROXY_SECRET.length)]) {
      const request = withForgedHeaders(register({ "content-type": "application/jose" }), stranger);
      request.headers.set("x-proxy-secret", secret);
      const answer = await fetch(`http://127.0.0.1:${world.backendPort}/register/v1`, {
        method: "POST",
        headers: request.headers,
        body,
      });
      assertEquals([answer.status, (await answer.json()).error], [401, "invalid_client"]);
    }
    // With the secret, it is the proxy: this is what the secret guards.
    const answer = await direct(
      withForgedHeaders(register({ "content-type": "application/jose" }), stranger),
      stranger,
    );
    assertEquals(answer.status, 201);
    await answer.body?.cancel();
  });

  test("reflects no certificate, and lets no answer be cached [H21, FAPI-G12]", async (world) => {
    const answers = [
      await requestToken(world, world.tpp),
      await world.api(new Request(`${BASE_URL}/nowhere`), world.tpp),
      await world.api(new Request(`${BASE_URL}/BANKA/domestic-payments/v1/x`), world.tpp),
    ];
    for (const answer of answers) {
      const text = JSON.stringify([...answer.headers]) + await answer.text();
      assert(
        !text.includes(world.tpp.transport.certificate.slice(0, 200)) && !text.includes("BEGIN%20CERT"),
        text,
      );
      assertEquals(answer.headers.get("cache-control"), "no-store");
    }
    assert(!(await (await world.browser(new Request(`${AUTH_URL}/jwks`))).text()).includes('"d"'));
  });

  test("answers 503 while the platform is away and serves again when it is back", async (world) => {
    world.process.kill("SIGTERM");
    await world.process.ended;
    const away = await world.api(new Request(`${BASE_URL}/BANKA/token.oauth2/v1`), world.tpp);
    assertEquals([away.status, (await away.json()).error], [503, "temporarily_unavailable"]);
    assertEquals(away.headers.get("content-type"), "application/json");
    const page = await world.browser(new Request(`${AUTH_URL}/BANKA/authorization.oauth2`));
    assertEquals([page.status, page.headers.get("content-type")], [503, "text/html; charset=utf-8"]);
    assertEquals(page.headers.get("cache-control"), "no-store");
    assertMatch(page.headers.get("content-security-policy") ?? "", /^default-src 'none'/);
    const html = await page.text();
    for (const words of ["<h1>This page is not available", "No pagará dos veces", 'lang="ar" dir="rtl"']) {
      assertStringIncludes(html, words);
    }
    const form = { method: "POST", body: new URLSearchParams({ decision: "accept" }) };
    const posted = await world.browser(new Request(`${AUTH_URL}/BANKA/consent/1`, form));
    assertEquals([posted.status, await posted.text()], [503, html]);
    for (const answer of [away, page]) assertEquals(answer.headers.get("retry-after"), "5");
    assertEquals(
      page.headers.get("strict-transport-security"),
      "max-age=63072000; includeSubDomains; preload",
    );
    await world.restart();
    assertEquals((await requestToken(world, world.tpp)).status, 200);
  });
}

/** The proxy's log once it has these words: it writes when it has the time. */
async function logWith(world: ProxiedWorld, words: string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const log = await world.accessLog();
    if (log.includes(words)) return log;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the proxy never wrote ${words}`);
}

/** The TPP's own claims under certificates that are not the TPP's transport certificate. */
async function wrongIdentities(world: ProxiedWorld): Promise<[string, TlsIdentity][]> {
  const { tpp, ground } = world;
  const twin = await issue(ground.participantsCa, await testKey(15), await testKey(3), {
    subject: `CN=${tpp.name} transport, O=${tpp.name}`,
  });
  const signing = {
    certificatePem: certificatePem(tpp.signing.certificate),
    privateKeyPem: await privatePem(tpp.signing.key),
  };
  return [
    ["another participant's", await transportOf(world.bankA)],
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
