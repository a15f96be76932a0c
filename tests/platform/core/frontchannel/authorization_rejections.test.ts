import { assertEquals } from "@std/assert";
import { authorise, authorize, Browser, codeOf, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertBrowserHeaders, assertErrorAnswer } from "testing/front_channel.ts";
import { SHOP_REDIRECTS, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { assertRejected, link, PATH, pushed } from "./rejected_links.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { unchanged } from "testing/store_contents.ts";

test("GET authorization.oauth2 answers an unusable link with a page, never a redirect [AZ-N1] [AZ-N2] [AZ-N4] [AZ-N5] [AZ2] [AZ3] [FAPI-D8] [FAPI-G8]", async ({ env, t }) => {
  const { requestUri } = await pushed(env);
  const { clientId } = env.tpp;
  const good = { client_id: clientId, request_uri: requestUri };
  const urn = "urn:ietf:params:oauth:request_uri:";
  const plain = {
    response_type: "code",
    scope: "payments",
    redirect_uri: SHOP_REDIRECTS[0] ?? "",
    state: "s",
    code_challenge: "A".repeat(43),
    code_challenge_method: "S256",
  };
  const cases: Record<string, Record<string, string> | string> = {
    "[AZ-N1] [AZ3] no request_uri, every parameter in the query": { client_id: clientId, ...plain },
    "[AZ-N2] random request_uri": { ...good, request_uri: `${urn}${"A".repeat(43)}` },
    "[AZ-N2] another URN": { ...good, request_uri: requestUri.replace("request_uri:", "other:") },
    "[AZ-N2] upper-case URN": { ...good, request_uri: requestUri.replace("urn:", "URN:") },
    "[AZ-N2] a character more": { ...good, request_uri: `${requestUri}A` },
    "[AZ-N2] a space behind": { ...good, request_uri: `${requestUri} ` },
    "[AZ-N2] https URL": { ...good, request_uri: "https://directory.example/jwks" },
    "[AZ-N2] loopback URL": { ...good, request_uri: "http://127.0.0.1:80/" },
    "[AZ-N2] empty request_uri": { ...good, request_uri: "" },
    "[AZ-N2] 10,000 characters": { ...good, request_uri: `${urn}${"A".repeat(10_000)}` },
    "[AZ-N2] request_uri twice": `client_id=${clientId}&request_uri=${requestUri}&request_uri=${requestUri}`,
    "[AZ-N2] request_uri twice, once empty": `client_id=${clientId}&request_uri=&request_uri=${requestUri}`,
    "[AZ-N2] a request object in its place": { client_id: clientId, request: "eyJhbGciOiJub25lIn0.e30." },
    "[AZ1] no client_id": { request_uri: requestUri },
    "[AZ1] empty client_id": { ...good, client_id: "" },
    "[AZ1] client_id twice": `client_id=${clientId}&client_id=${clientId}&request_uri=${requestUri}`,
    "[AZ-N4] another client's client_id": { ...good, client_id: env.otherTpp.clientId },
    "[AZ-N4] the bank's client_id": { ...good, client_id: env.bankA.clientId },
    "[AZ-N4] unknown client_id": { ...good, client_id: `SC-${crypto.randomUUID()}` },
    "[AZ-N4] client_id in lower case": { ...good, client_id: clientId.toLowerCase() },
    "nothing at all": "",
  };
  const fetched = env.fetched.length;
  await steps(t, cases, async (parameters) => {
    const query = typeof parameters === "string" ? parameters : new URLSearchParams(parameters);
    await assertRejected(env, `${PATH}?${query}`, 400, "link_unusable");
  });
  await t.step("[AZ-N5] another bank's path", async () => {
    const query = new URLSearchParams(good);
    await assertRejected(env, `/BANKB/authorization.oauth2?${query}`, 400, "link_unusable");
  });
  await t.step("[AZ-N2] nothing was fetched", () => assertEquals(env.fetched.length, fetched));
  await t.step("the link itself still works", async () => {
    assertEquals((await authorize(new Browser(env), env.tpp, requestUri)).status, 303);
  });
});

test("GET authorization.oauth2 answers 404 for an unknown bank before anything else [A4] [FAPI-G16]", async ({ env, t }) => {
  const { requestUri } = await pushed(env);
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: requestUri });
  const codes = {
    "unknown": "BANKC",
    "lower case": "banka",
    "a TPP's org_id": env.tpp.orgId,
    "one character": "A",
    "too long": "A".repeat(33),
    "an encoded slash": "BANKA%2F..%2FBANKB",
    "an encoded space": "BANKA%20",
    "__proto__": "__proto__",
  };
  await steps(t, codes, async (code) => {
    await assertRejected(env, `/${code}/authorization.oauth2?${query}`, 404, "not_found");
    await assertRejected(env, `/${code}/authorization.oauth2`, 404, "not_found");
  });
});

test("GET authorization.oauth2 takes a request_uri for 599 s [AZ-N3] [AUT-13]", async ({ env }) => {
  const { requestUri } = await pushed(env);
  env.now = START + 598_999;
  assertEquals((await authorize(new Browser(env), env.tpp, requestUri)).status, 303);
  env.now = START + 599_000;
  await assertRejected(env, link(env, requestUri), 400, "link_unusable");
  env.now = START + 600_000;
  await assertRejected(env, link(env, requestUri), 400, "link_unusable");
});

test("GET authorization.oauth2 rejects a request_uri whose flow has ended, well or badly [AZ-N6] [AUT-13]", async ({ env }) => {
  const succeeded = await toBank(env, { body: IMPLICIT });
  codeOf(await authorise(env, succeeded));
  await assertRejected(env, link(env, succeeded.requestUri), 400, "link_unusable");
  const failed = await toBank(env, { body: IMPLICIT });
  const path = await returnPath(env, env.bankA, failed.handover, { claims: { status_code: "failure" } });
  await assertErrorAnswer(await failed.browser.open(path), "access_denied");
  await assertRejected(env, link(env, failed.requestUri), 400, "link_unusable");
});

test("GET authorization.oauth2 has no other method, and no answer allows another origin [AZ-N12] [AZ10] [FAPI-G4]", async ({ env, t }) => {
  const { requestUri } = await pushed(env);
  for (const method of ["POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]) {
    await t.step(method, async () => {
      const url = link(env, requestUri);
      const headers = { origin: "https://evil.example", "access-control-request-method": "GET" };
      const answer = await unchanged(env, () => new Browser(env).open(url, { method, headers }));
      assertEquals([answer.status, answer.headers.get("allow")], [405, "GET"]);
      assertEquals(answer.headers.getSetCookie(), []);
      assertBrowserHeaders(answer);
      await answer.body?.cancel();
    });
  }
});
