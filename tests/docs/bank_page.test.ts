/** The check of a pushed order in docs/bank.md, run on orders that the platform pushed. */
import { assertEquals, assertRejects } from "@std/assert";
import * as jose from "jose";
import { AUTH_URL } from "testing/environment.ts";
import { onlyPush, openPushEnvironment, paid } from "support/orders.ts";

const page = await Deno.readTextFile(new URL("../../docs/bank.md", import.meta.url));
const [, recipe = ""] = /```ts\n(.*?)```/s.exec(page) ?? [];

/** The recipe as a function, with jose as its one library. */
const check = new Function(
  "jose",
  "authUrl",
  "orgId",
  "body",
  `return (async () => { ${recipe}; return order; })()`,
) as (
  library: object,
  authUrl: string,
  orgId: string,
  body: string,
) => Promise<{ DomesticPaymentId: string }>;

Deno.test("the check of docs/bank.md takes a pushed order, and no other body [D4]", async () => {
  await using env = await openPushEnvironment();
  const made = await paid(env);
  const push = onlyPush(env);
  assertEquals(push.headers.get("content-type"), "application/jose");
  assertEquals(push.headers.get("x-jws-signature"), null);
  const library = {
    createRemoteJWKSet: (url: URL) =>
      jose.createRemoteJWKSet(url, { [jose.customFetch]: (to: string) => env.browser(new Request(to)) }),
    jwtVerify: (jws: string, keys: jose.JWTVerifyGetKey, options: jose.JWTVerifyOptions) =>
      jose.jwtVerify(jws, keys, { ...options, currentDate: new Date(env.now) }),
  };
  const run = (body: string, orgId = "BANKA"): ReturnType<typeof check> =>
    check(library, AUTH_URL, orgId, body);
  assertEquals((await run(push.body)).DomesticPaymentId, made.DomesticPaymentId);
  await assertRejects(() => run(push.body, "BANKB"), jose.errors.JWTClaimValidationFailed, "aud");
  const [header, , signature] = push.body.split(".");
  const other = jose.base64url.encode(JSON.stringify({ ...jose.decodeJwt(push.body), exp: 9e9 }));
  await assertRejects(
    () => run([header, other, signature].join(".")),
    jose.errors.JWSSignatureVerificationFailed,
  );
  env.now += 600_000;
  await assertRejects(() => run(push.body), jose.errors.JWTExpired);
});
