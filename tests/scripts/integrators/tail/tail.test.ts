/** `deno task tail` beside a running sandbox. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { followRejections } from "../../../../scripts/integrators/tail/tail.ts";
import { decodeEndpoints } from "../../../../src/sandbox/shop/sandbox_endpoints.ts";
import { call, clientToken, consentBody, requestToken } from "testing/flows.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { openSandboxEnvironment } from "support/sandbox_environment.ts";

Deno.test("the tail prints what was wrong with each rejected request, and nothing of the others [SB9]", async () => {
  await using running = await openPooledSandbox();
  const { dir } = running;
  const endpoints = decodeEndpoints(running.endpoints);
  const stopped = new AbortController();
  const lines: string[] = [];
  try {
    using env = await openSandboxEnvironment(running);
    const before = await requestToken(env, env.tpp, "BANKA", { form: { scope: "openid" } });
    await before.body?.cancel();
    const { operations_url: url, directory_admin_token: token } = running.endpoints;
    const following = followRejections(`${dir}/sandbox.log`, {
      fetch,
      operator: { url, token },
      authUrl: endpoints.auth_url,
      print: (line) => lines.push(line),
    }, stopped.signal);
    const bound = await clientToken(env, env.tpp);
    const body = JSON.stringify(
      consentBody({ initiation: { InstructedAmount: { Amount: "1", Currency: "EUR" } } }),
    );
    const rejected = [
      await requestToken(env, env.tpp, "BANKA", { form: { scope: "openid" } }),
      await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1", { body }),
    ];
    for (const answer of rejected) await answer.body?.cancel();
    const ids = rejected.map(({ headers }) => headers.get("x-fapi-interaction-id"));
    for (let tries = 0; tries < 40 && !lines.join().includes(`${ids[1]}`); tries++) {
      await new Promise((done) => setTimeout(done, 250));
    }
    stopped.abort();
    await following;
    const text = lines.join("\n");
    assertMatch(
      text,
      /^\d\d:\d\d:\d\d 400 POST \/\{bank\}\/token.oauth2\/v1 oauth.invalid_scope SC-[^]*scope must be/,
    );
    assertStringIncludes(text, "400 POST /{bank}/domestic-payment-consents/v1 resource.invalid_fields");
    assertStringIncludes(text, "Data.Initiation.InstructedAmount.Amount: ");
    for (const id of ids) assertStringIncludes(text, `${endpoints.auth_url}/docs/traces?id=${id}`);
    assertEquals(text.match(/docs\/traces/g)?.length, 2); // neither the token nor what was before
    assert(!text.includes(before.headers.get("x-fapi-interaction-id") ?? ""));
  } finally {
    stopped.abort();
  }
});
