import { assertEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { clientToken, requestToken } from "testing/flows.ts";
import { adminCall, onboardOnly } from "testing/participants.ts";
import {
  directorySigner,
  MANY_REGISTRATIONS,
  postRegistration,
  statementWith,
} from "testing/registration.ts";
import { DIRECTORY_URL, type Environment, openEnvironment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { NEWCOMER } from "./newcomer.ts";

Deno.test("POST register lets the statement's values win and ignores unknown metadata [DC10] [DC13]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  const response = await postRegistration(env, newcomer, {
    claims: {
      client_name: "Trusted Bank",
      software_client_name: "Trusted Bank",
      org_id: "BANKA",
      software_roles: ["ASPSP"],
      consent_managedby_bank: true,
      policy_uri: "https://evil.example/policy",
      x_unheard_of: { a: [1] },
    },
  });
  assertEquals(response.status, 201);
  const body = await bodyOf(response);
  assertEquals([body.client_name, body.scope], ["New Shop Ltd app", "payments"]);
  assertEquals(["policy_uri", "x_unheard_of", "org_id", "software_roles"].filter((name) => name in body), []);
});

Deno.test("POST register fetches the directory's URLs and no other, whatever the registration names [DC-N20] [DC13] [DC16]", async (t) => {
  const hosts = (env: Environment): string[] => [...new Set(env.fetched.map((url) => new URL(url).origin))];
  const elsewhere: Readonly<Record<string, unknown>> = {
    "another host": "https://evil.example/jwks",
    "this computer": "http://127.0.0.1:8080/jwks",
    "a path of the directory that redirects": `${DIRECTORY_URL}/redirect`,
  };
  for (const [name, jwks_uri] of Object.entries(elsewhere)) {
    await t.step(`jwks_uri is ${name}`, async () => {
      await using env = await openEnvironment(MANY_REGISTRATIONS);
      const newcomer = await onboardOnly(env, NEWCOMER);
      env.fetched.length = 0;
      assertEquals((await postRegistration(env, newcomer, { claims: { jwks_uri } })).status, 201);
      assertEquals(env.fetched.toSorted(), [
        `${DIRECTORY_URL}/participants/${newcomer.orgId}/jwks`,
        `${DIRECTORY_URL}/participants/${newcomer.orgId}/jwks/revoked`,
        `${DIRECTORY_URL}/status`,
      ]);
    });
  }
  await t.step("jwks with a key of one's own is not used", async () => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    const outsider = await directorySigner();
    const jwks = { keys: [{ ...outsider.key.publicJwk, kid: "mine", use: "sig" }] };
    assertEquals((await postRegistration(env, newcomer, { claims: { jwks } })).status, 201);
    const forged = { ...newcomer, signing: { ...newcomer.signing, key: outsider.key, kid: "mine" } };
    assertEquals((await requestToken(env, forged)).status, 401);
  });
  await t.step("the logo and home page of the software", async () => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    assertEquals((await postRegistration(env, newcomer)).status, 201);
    await clientToken(env, newcomer);
    assertEquals(hosts(env), [DIRECTORY_URL]);
  });
});

Deno.test("POST register takes four redirect_uris of a TPP, with queries of their own [DC9]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const redirectUris = [1, 2, 3, 4].map((n) => `https://new.example/${n}?n=${n}`);
  const newcomer = await onboardOnly(env, { ...NEWCOMER, redirectUris });
  const response = await postRegistration(env, newcomer);
  assertEquals([response.status, (await bodyOf(response)).redirect_uris], [201, redirectUris]);
});

Deno.test("POST register takes a statement until its expiry, and one of up to two years [DC2]", async (t) => {
  const now = START / 1000;
  const good = {
    "iat 30 s ahead": { iat: now + 30 },
    "exp 29 s ago": { exp: now - 29 },
    "exp in two years": { exp: now + 2 * 365 * 86_400 },
    "software_id unlike the client id": { software_id: "another-name" },
  };
  await steps(t, good, async (claims) => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    const statement = await statementWith(newcomer, { claims });
    const changes = { statement, claims: { software_id: undefined } };
    assertEquals((await postRegistration(env, newcomer, changes)).status, 201);
  });
});

Deno.test("POST register takes a participant's keys again once its software is Active again [DC3]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  const path = `/participants/${newcomer.orgId}/software/status`;
  assertEquals((await adminCall(env, "PUT", path, { status: "Inactive", reason: "pause" })).status, 200);
  assertEquals((await postRegistration(env, newcomer)).status, 400); // no key is published
  assertEquals((await adminCall(env, "PUT", path, { status: "Active", reason: "back" })).status, 200);
  env.now += 30_000; // an unknown kid is asked for again
  assertEquals((await postRegistration(env, newcomer)).status, 201);
});
