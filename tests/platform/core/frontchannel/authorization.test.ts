import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { clientToken, createConsent, good, push } from "testing/flows.ts";
import {
  authorise,
  authorize,
  Browser,
  codeOf,
  openHandover,
  redeem,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import {
  assertBrowserHeaders,
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  consentStatus,
  SECRET,
  tppAnswer,
  UUID,
} from "testing/front_channel.ts";
import { AUTH_URL, type Environment, SHOP_REDIRECTS } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { pushed } from "./pushed_link.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { unchanged } from "testing/store_contents.ts";

test("GET authorization.oauth2 with client_id and request_uri alone goes to the bank's registered URL by 303, with oAuthUrl alone [AZ-N8] [AZ2] [AZ5] [AZ12] [AZ14] [A5]", async ({ env }) => {
  const cases = [[env.bankA, "https://bank-a.example/sca"], [
    env.bankB,
    "https://bank-b.example/sca",
  ]] as const;
  for (const [{ orgId }, scaUrl] of cases) {
    const requestUri = await pushed(env, orgId);
    const departure = await authorize(new Browser(env), env.tpp, requestUri, orgId);
    assertEquals([departure.status, await departure.text()], [303, ""]);
    assertBrowserHeaders(departure);
    const location = departure.headers.get("location") ?? "";
    assertMatch(location.slice(`${scaUrl}?oAuthUrl=`.length), /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){4}$/);
    assertEquals(location.slice(0, `${scaUrl}?oAuthUrl=`.length), `${scaUrl}?oAuthUrl=`);
  }
});

test("GET authorization.oauth2 answers with exactly code, state and the bank's issuer, by 303 in the query [AZ6] [AZ-N14] [A1] [AUT-01]", async ({ env, t }) => {
  const flows = {
    "implicit [CT5] [AUT-02] [AUT-03]": { bank: env.bankA, body: IMPLICIT },
    "explicit, the platform's screen [CT7] [AUT-04] [AUT-05] [AUT-06]": { bank: env.bankA },
    "explicit, the bank's screen [CT6] [AUT-07] [AUT-08] [AUT-09]": { bank: env.bankB },
    "implicit at a bank with its own screen [AUT-10]": { bank: env.bankB, body: IMPLICIT },
  };
  await steps(t, flows, async (options) => {
    const flow = await toBank(env, options);
    const code = await assertCodeAnswer(await authorise(env, flow), options.bank.orgId);
    assertEquals(await consentStatus(env, flow), "Authorized");
    const token = await redeem(env, { consentId: flow.consentId, code }, { bank: options.bank.orgId });
    assertEquals(token.status, 200);
  });
});

test("GET authorization.oauth2 ignores every parameter but client_id and request_uri [AZ1] [AZ-N9] [AZ-N10] [AZ-N11] [FAPI-D14]", async ({ env, t }) => {
  const outside = {
    "duplicates of pushed parameters, in reverse order [AZ-N9]": {
      redirect_uri: SHOP_REDIRECTS[0] ?? "",
      scope: "payments",
      response_type: "code",
    },
    "another state [AZ-N10]": { state: "another-state" },
    "another redirect_uri [AZ-N11]": {
      redirect_uri: "https://evil.example/callback",
      response_mode: "fragment",
    },
    "everything foreign": { nonce: "n", claims: "{}", response_type: "token", foo: "bar", prompt: "none" },
  };
  await steps(t, outside, async (parameters) => {
    const { browser, flow } = await visit(env, (target) => ({ ...parameters, ...target }));
    const answer = await browser.open(await returnPath(env, env.bankA, flow.handover));
    await assertCodeAnswer(answer);
  });
  await t.step("a parameter of the platform's own pages, twice", async () => {
    const query = new URLSearchParams({
      client_id: env.tpp.clientId,
      request_uri: await pushed(env, "BANKA"),
    });
    const departure = await new Browser(env).open(`/BANKA/authorization.oauth2?${query}&flow=1&flow=2`);
    assertEquals([departure.status, await departure.text()], [303, ""]);
  });
});

test("GET authorization.oauth2 never uses a state that is only outside the pushed request [AZ1]", async ({ env }) => {
  const withoutState = { state: undefined };
  const { browser, flow } = await visit(env, (target) => ({ state: "outside", ...target }), withoutState);
  const answer = await tppAnswer(await browser.open(await returnPath(env, env.bankA, flow.handover)));
  assertEquals(Object.keys(answer.parameters), ["code", "iss"]);
});

test("GET authorization.oauth2 returns state byte for byte, on success and on errors [AZ6] [AZ7] [AZ-N16]", async ({ env, t }) => {
  const states = {
    "1000 characters": "s".repeat(1000),
    "every visible character": String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i)),
    "markup": `"><script>alert(1)</script>`,
    "what looks encoded": "a%20b+c%2Fd&code=stolen&iss=evil#fragment",
  };
  await steps(t, states, async (state) => {
    for (const status_code of ["success", "failure"]) {
      const flow = await toBank(env, { body: IMPLICIT, form: { state } });
      const path = await returnPath(env, env.bankA, flow.handover, { claims: { status_code } });
      const { parameters } = await tppAnswer(await flow.browser.open(path));
      assertEquals(parameters.state, state);
      assertEquals(parameters.iss, `${AUTH_URL}/BANKA`);
    }
  });
});

test("GET authorization.oauth2 keeps the redirect_uri's own query and appends with & [AZ8]", async ({ env }) => {
  const redirect_uri = "https://shop.example/callback?dummy1=lorem&dummy2=ipsum";
  for (const [status_code, first] of [["success", "code"], ["failure", "error"]] as const) {
    const flow = await toBank(env, { body: IMPLICIT, form: { redirect_uri } });
    const path = await returnPath(env, env.bankA, flow.handover, { claims: { status_code } });
    const answer = await tppAnswer(await flow.browser.open(path), redirect_uri);
    assertEquals(answer.to, redirect_uri);
    assertEquals(Object.keys(answer.parameters)[0], first);
  }
});

test("GET authorization.oauth2 binds each visit to a __Host- cookie, correlation_id and jti of its own [AZ11] [F2]", async ({ env }) => {
  const requestUri = await pushed(env);
  const browser = new Browser(env);
  const seen = [];
  for (let visit = 0; visit < 2; visit++) {
    const departure = await authorize(browser, env.tpp, requestUri);
    const { claims } = await openHandover(env.bankA, departure);
    const [cookie = "", ...more] = departure.headers.getSetCookie();
    assertEquals(more, []);
    const [pair = "", ...attributes] = cookie.split("; ");
    const [name, secret = ""] = pair.split("=");
    assertEquals(name, `__Host-sca-${claims.correlation_id}`);
    assertMatch(secret, SECRET);
    assertEquals(attributes.toSorted(), ["HttpOnly", "Max-Age=87300", "Path=/", "SameSite=Lax", "Secure"]);
    assertMatch(claims.correlation_id, UUID);
    assertMatch(claims.jti, UUID);
    seen.push(secret, claims.correlation_id, claims.jti);
    const stored = JSON.stringify(await env.snapshot());
    assert(!stored.includes(secret), "the store holds the secret itself");
  }
  assertEquals(new Set(seen).size, 6);
});

test("GET authorization.oauth2 has no effect that a link previewer could spoil [AZ10] [AZ-N7] [CT3] [AUT-13]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const consentId = (await createConsent(env, bound, IMPLICIT)).Data.ConsentId;
  const requestUri = (await good(push(env, consentId), 201)).request_uri;
  await authorize(new Browser(env), env.tpp, requestUri); // the previewer
  const browser = new Browser(env);
  await authorize(browser, env.tpp, requestUri); // a first visit that is given up
  const second = await authorize(browser, env.tpp, requestUri);
  const { claims } = await openHandover(env.bankA, second);
  const flow = { consentId, bound, bank: env.bankA };
  assertEquals(await consentStatus(env, flow), "AwaitingAuthorisation");
  await assertCodeAnswer(await browser.open(await returnPath(env, env.bankA, claims)));
  assertEquals(await consentStatus(env, flow), "Authorized");
});

/** A visit with a query made around the two good parameters. */
async function visit(
  env: Environment,
  query: (target: Record<string, string>) => Record<string, string>,
  form: Record<string, string | undefined> = {},
): Promise<{ browser: Browser; flow: { handover: Awaited<ReturnType<typeof openHandover>>["claims"] } }> {
  const bound = await clientToken(env, env.tpp);
  const { Data } = await createConsent(env, bound, IMPLICIT);
  const { request_uri } = await good(push(env, Data.ConsentId, { form }), 201);
  const browser = new Browser(env);
  const parameters = new URLSearchParams(query({ request_uri, client_id: env.tpp.clientId }));
  const departure = await browser.open(`/BANKA/authorization.oauth2?${parameters}`);
  const { claims } = await openHandover(env.bankA, departure);
  return { browser, flow: { handover: claims } };
}

test("GET authorization.oauth2: user rejects at the bank: 303 with access_denied, state and iss [AZ-N13] [AZ7] [AZ9] [B5]", async ({ env }) => {
  const flow = await toBank(env);
  const path = await returnPath(env, env.bankA, flow.handover, { claims: { status_code: "failure" } });
  await assertErrorAnswer(await flow.browser.open(path), "access_denied");
  assertEquals(await consentStatus(env, flow), "Rejected");
});

test("GET authorization.oauth2 takes its URLs from configuration, whatever Host says [A6] [MD-N4]", async ({ env }) => {
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: await pushed(env) });
  const departure = await env.browser(
    new Request(`https://evil.example/BANKA/authorization.oauth2?${query}`, {
      headers: { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" },
    }),
  );
  const { claims } = await openHandover(env.bankA, departure);
  assertEquals([departure.status, claims.iss], [303, "https://auth.platform.example"]);
  assertMatch(departure.headers.getSetCookie()[0] ?? "", /; Secure/);
});

test("GET authorization.oauth2 asks for no client certificate and ignores certificate headers [A7]", async ({ env }) => {
  const headers = {
    "client-cert": ":AAAA:",
    "x-proxy-secret": "wrong",
    "x-forwarded-client-cert": "Hash=0",
    authorization: "DPoP nothing",
  };
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: await pushed(env) });
  const browser = new Browser(env);
  const departure = await browser.open(`/BANKA/authorization.oauth2?${query}`, { headers });
  const { claims } = await openHandover(env.bankA, departure);
  await assertCodeAnswer(await browser.open(await returnPath(env, env.bankA, claims), { headers }));
});

test("GET authorization.oauth2 issues the code at the end: redeemable 59 s after, not 60 s after [AZ15] [AZ9]", async ({ env }) => {
  for (const [seconds, status] of [[59, 200], [60, 400]] as const) {
    const flow = await toBank(env, { body: IMPLICIT });
    env.now += 300_000; // at the bank
    const code = codeOf(await authorise(env, flow));
    env.now += seconds * 1000;
    assertEquals((await redeem(env, { consentId: flow.consentId, code })).status, status);
  }
});

test("GET authorization.oauth2 twice for one consent by two pushed requests: the first to end wins, the other ends in invalid_request [AZ-N18] [CT2] [CT16]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const second = await good(
    push(env, flow.consentId, { form: { code_challenge: "B".repeat(42) + "A" } }),
    201,
  );
  const browser = new Browser(env);
  const { claims } = await openHandover(env.bankA, await authorize(browser, env.tpp, second.request_uri));
  assertNotEquals(claims.correlation_id, flow.handover.correlation_id);
  await assertCodeAnswer(await browser.open(await returnPath(env, env.bankA, claims)));
  const late = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  await assertErrorAnswer(late, "invalid_request");
  assertEquals(await consentStatus(env, flow), "Authorized");
  // The first link is over as well: its flow has had its answer.
  const again = authorize(flow.browser, env.tpp, flow.requestUri);
  await assertPage(await unchanged(env, () => again), 400, "link_unusable");
});
