/**
 * Who reads what was wrong (Decision G8): a caller with a proven certificate, about its own request. Others get the
 * words of the error table, and an answer never depends on whether another party's id exists.
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { bodyOf, rejectionOf } from "testing/answers.ts";
import { authentication, call, clientToken, requestToken } from "testing/flows.ts";
import { clientAssertion } from "testing/jwts.ts";
import { clientCredentials, type Deviation } from "testing/oauth_requests.ts";
import { assertChallenge } from "testing/resource_answers.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { testKey } from "testing/keys.ts";
import { issue, webAuthority } from "testing/web_authority.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { test } from "support/environment_test.ts";

const UNKNOWN = "SC-00000000-0000-4000-8000-000000000000";
const GENERIC = { error: "invalid_client", error_description: "Client authentication failed." };
const ERRORS = `${AUTH_URL}/docs/errors`;

/** The body of a rejected token request. */
async function rejection(env: Environment, deviation: Deviation): Promise<Record<string, string>> {
  const response = await clientCredentials(env).send(deviation);
  const body = await bodyOf<Record<string, string>>(response);
  assertEquals(response.status, 401, JSON.stringify(body));
  return body;
}

async function audienceOf(env: Environment, aud: unknown): Promise<Deviation> {
  return { form: { client_assertion: await clientAssertion(env, env.tpp, "BANKA", { claims: { aud } }) } };
}

test("POST token explains a client's own mistake: the part, what was expected and what was received [G8, EB6, EB7]", async ({ env }) => {
  assertEquals(await rejection(env, await audienceOf(env, `${AUTH_URL}/BANKB`)), {
    error: "invalid_client",
    error_description: `client_assertion aud must be '${AUTH_URL}/BANKA' (the issuer of this bank, as a ` +
      `string); got '${AUTH_URL}/BANKB'.`,
    error_uri: `${ERRORS}#client-not-authenticated`,
  });
});

test("POST token quotes what it received bounded and in the characters of RFC 6749 [G8, FAPI-G13]", async ({ env }) => {
  const odd = `"<b>\\\u202e€'${"x".repeat(2000)}`;
  const { error_description: description = "" } = await rejection(env, await audienceOf(env, odd));
  assertMatch(description, /^[\x20\x21\x23-\x3b\x3d\x3f-\x5b\x5d-\x7e]{100,500}$/);
  assertStringIncludes(description, "%5Cu{202e}%E2%82%AC");
});

test("POST token has the generic words alone for a caller whose certificate is not proven [G8, CA14]", async ({ env, t }) => {
  const wrong = await audienceOf(env, "BANKA");
  const [authorityKey, key] = [await testKey(10), await testKey(11)];
  const { certificatePem } = await issue(await webAuthority(), authorityKey, key, {
    subject: `CN=${env.tpp.clientId}`,
    notAfter: new Date(Date.UTC(2045, 0, 1)),
  });
  const forged = certificatePem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
  const callers = {
    "the signing certificate": { ...env.tpp, transport: env.tpp.signing },
    "a certificate that names the client, with another key": {
      ...env.tpp,
      transport: { ...env.tpp.transport, certificate: forged },
    },
  };
  for (const [name, as] of Object.entries(callers)) {
    await t.step(name, async () => {
      assertEquals(await rejection(env, { ...wrong, as }), GENERIC);
      assertEquals(await rejection(env, { form: { client_id: UNKNOWN }, as }), GENERIC);
      const bare = await call(
        env,
        as,
        { ...await clientToken(env, env.tpp), token: "x" },
        `${CONSENTS}/${UNKNOWN}`,
      );
      assertEquals(bare.headers.get("www-authenticate"), 'DPoP error="invalid_token", algs="PS256"');
    });
  }
  await t.step("no certificate", async () => {
    assertEquals(await rejection(env, { ...wrong, as: null }), {
      error: "invalid_client",
      error_description: "A client certificate of a registered participant is required.",
    });
  });
});

test("POST token answers a client that names another one alike, whether that one exists or not [G8, CA14]", async ({ env }) => {
  const named = async (clientId: string, form = {}): Promise<unknown> => {
    const body = await rejection(env, { form: { client_id: clientId, ...form } });
    return { ...body, error_description: body["error_description"]?.replaceAll(clientId, "ID") };
  };
  const expected = {
    error: "invalid_client",
    error_description: `client_id must be '${env.tpp.clientId}' (the client of your certificate); got 'ID'.`,
    error_uri: `${ERRORS}#client-not-authenticated`,
  };
  for (const clientId of [env.otherTpp.clientId, env.bankA.clientId, UNKNOWN, "shop"]) {
    assertEquals(await named(clientId), expected, clientId);
    const impostor = await clientAssertion(env, { ...env.tpp, clientId }, "BANKA");
    assertEquals(await named(clientId, { client_assertion: impostor }), expected, clientId);
  }
  const stolen = await authentication(env, env.otherTpp, "BANKA");
  assertEquals(await named(env.otherTpp.clientId, stolen), expected, "a valid assertion of another client");
});

test("A resource answers another client's token as one that does not exist [G8, RG-N9]", async ({ env }) => {
  const own = await clientToken(env, env.tpp);
  const others = await clientToken(env, env.otherTpp);
  const challengeOf = async (token: string): Promise<string | null> => {
    const response = await call(env, env.tpp, { ...own, token }, `${CONSENTS}/${crypto.randomUUID()}`);
    await assertChallenge(response.clone(), 401, 'DPoP error="invalid_token", algs="PS256"');
    return response.headers.get("www-authenticate");
  };
  assertEquals(await challengeOf(others.token), await challengeOf("x".repeat(43)));
  assertStringIncludes(await challengeOf(others.token) ?? "", `error_uri="${ERRORS}#token-invalid"`);
});

test("While the directory is away, a rejected request has the generic words [G8]", async ({ env }) => {
  const wrong = await audienceOf(env, "BANKA");
  await requestToken(env, env.tpp);
  env.network = () => Promise.resolve(new Response(null, { status: 503 }));
  await env.restart();
  env.now += 10_000_000;
  const response = await clientCredentials(env).send(wrong);
  assertEquals(response.status, 503);
  assertEquals(Object.keys(await rejectionOf(response)), ["error", "error_description"]);
});
