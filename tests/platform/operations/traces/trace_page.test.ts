/** The page of traces: in a sandbox with the received JWTs beside what was expected, elsewhere without any. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeEndpoints } from "../../../../src/sandbox/shop/sandbox_endpoints.ts";
import { putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, requestToken } from "testing/flows.ts";
import { clientAssertion, payloadSignature } from "testing/jwts.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { openSandboxEnvironment } from "support/sandbox_environment.ts";

Deno.test("in a sandbox the page shows what was wrong beside the JWT that was received [TRC12]", async (t) => {
  await using running = await openPooledSandbox();
  const endpoints = decodeEndpoints(running.endpoints);
  using env = await openSandboxEnvironment(running);
  const pageOf = async (answer: Response): Promise<string> => {
    await answer.body?.cancel();
    const id = answer.headers.get("x-fapi-interaction-id");
    for (let tries = 0;; tries++) {
      const page = await fetch(`${endpoints.auth_url}/docs/traces?id=${id}`);
      const html = await page.text();
      assertEquals([page.status, page.headers.get("cache-control")], [200, "no-store"]);
      if (!html.includes("No request has this id") || tries > 20) {
        return html.replaceAll("&quot;", '"').replaceAll("&#39;", "'");
      }
      await new Promise((done) => setTimeout(done, 250));
    }
  };
  await t.step("a client assertion", async () => {
    const aud = `${endpoints.base_url}/BANKA/token.oauth2/v1`;
    const client_assertion = await clientAssertion(env, env.tpp, "BANKA", { claims: { aud } });
    const html = await pageOf(await requestToken(env, env.tpp, "BANKA", { form: { client_assertion } }));
    assertStringIncludes(html, "client_assertion, as it arrived");
    assertStringIncludes(html, `<mark>  "aud": "${aud}",</mark>   ← must be '${endpoints.auth_url}/BANKA'`);
    assertStringIncludes(html, "client_assertion aud");
    assert(!html.includes(client_assertion.split(".")[2] ?? "-"), "the signature is shown");
  });
  await t.step("a payload signature", async () => {
    const body = JSON.stringify(consentBody());
    const header = { "http://openbanking.org.uk/tan": "openbanking.org.uk" };
    const signature = await payloadSignature(env, env.tpp, body, { header });
    const bound = await clientToken(env, env.tpp);
    const path = "/BANKA/domestic-payment-consents/v1";
    const html = await pageOf(await call(env, env.tpp, bound, path, { body, signature }));
    assertStringIncludes(html, "x-jws-signature, as it arrived");
    assertStringIncludes(
      html,
      '<mark>  "http://openbanking.org.uk/tan": "openbanking.org.uk",</mark>   ← must be',
    );
    assertStringIncludes(
      html,
      '<li class="failed"><strong>✗ failed</strong> x-jws-signature over the body <small>payloadSignature</small>',
    );
    assert(!html.includes("prefetch"), "a step that rejects no request is not a check");
  });
  await t.step("a result JWT", async () => {
    const flow = await toBank(env);
    await (await putAccounts(env, env.bankA, flow.consentId)).body?.cancel();
    const changes = { claims: { bank_id: "BANKX" } };
    const html = await pageOf(
      await flow.browser.open(await returnPath(env, env.bankA, flow.handover, changes)),
    );
    assertStringIncludes(html, '<mark>  "bank_id": "BANKX",</mark>   ← must be \'BANKA\'');
    assertStringIncludes(html, flow.consentId);
  });
  await t.step("an id of no request, and none", async () => {
    for (const query of [`?id=${crypto.randomUUID()}`, "?id=x", "?id=%3Cscript%3E", ""]) {
      const html = await (await fetch(`${endpoints.auth_url}/docs/traces${query}`)).text();
      assertEquals(html.includes("No request has this id"), query !== "");
      assert(!html.includes("<script>"));
    }
  });
  await t.step("a request that was not rejected keeps nothing of its JWTs", async () => {
    const html = await pageOf(await requestToken(env, env.tpp, "BANKA"));
    assertStringIncludes(html, "token.oauth2/v1: 200");
    assert(!html.includes("as it arrived"));
  });
});

Deno.test("outside of a sandbox the page shows no trace, and no trace has anything of a JWT [TRC12]", async () => {
  await using env = await openEnvironment();
  const client_assertion = await clientAssertion(env, env.tpp, "BANKA", {
    claims: { aud: "https://wrong.example" },
  });
  const answer = await requestToken(env, env.tpp, "BANKA", { form: { client_assertion } });
  await env.platform.writeTraces();
  const id = answer.headers.get("x-fapi-interaction-id");
  const page = await env.browser(new Request(`https://auth.platform.example/docs/traces?id=${id}`));
  const html = await page.text();
  assertEquals(page.status, 200);
  assertStringIncludes(html, "GET /traces/v1/{interaction-id}");
  assert(!html.includes("wrong.example") && !html.includes(String(id)));
  const stored = (await env.store.list({ prefix: ["trace"], limit: 10 })).map(({ value }) => value);
  assert(stored.length > 0);
  assertEquals(stored.filter((value) => Object.hasOwn(Object(value), "received")), []);
});
