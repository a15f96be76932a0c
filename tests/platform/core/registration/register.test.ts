/** `POST /register/v1`: what a good registration gets, and what of it is believed (contract DC1 to DC17). */
import "reflect-metadata";
import { assertEquals, assertMatch } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { X509Certificate } from "@peculiar/x509";
import { spkiThumbprint } from "../../../../src/base/jose/rsa_key.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { good, requestToken } from "testing/flows.ts";
import { historyOf } from "testing/histories.ts";
import { onboardOnly } from "testing/participants.ts";
import {
  MANY_REGISTRATIONS,
  postRegistration,
  registrationJwt,
  renewedStatement,
  statementWith,
} from "testing/registration.ts";
import { BASE_URL, openEnvironment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { NEWCOMER } from "./newcomer.ts";

Deno.test("POST register answers 201 with the registration and the statement unchanged [DC1] [DC12] [DC14]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  const response = await postRegistration(env, newcomer);
  assertEquals(response.status, 201);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertMatch(newcomer.clientId, /^SC-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assertEquals(await response.json(), {
    client_id: newcomer.clientId,
    client_id_issued_at: START / 1000,
    client_name: "New Shop Ltd app",
    redirect_uris: ["https://new.example/a", "https://new.example/b?x=1&y=%20"],
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_signing_alg: "PS256",
    grant_types: ["client_credentials", "authorization_code"],
    response_types: ["code"],
    software_id: newcomer.clientId,
    scope: "payments",
    software_statement: newcomer.statement,
    application_type: "web",
    id_token_signed_response_alg: "PS256",
  });
  assertEquals((await requestToken(env, newcomer)).status, 200);
});

Deno.test("the entry of a registration says how it was proven: certificate, registration JWT, software statement [EN6]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  const jti = crypto.randomUUID();
  await good(postRegistration(env, newcomer, { claims: { jti } }), 201);
  env.now += 1000;
  const statement = await renewedStatement(env, newcomer);
  await good(postRegistration(env, newcomer, { statement }), 201);
  const certificate = new X509Certificate(newcomer.transport.certificate);
  const [registered, updated, ...more] = await historyOf(env.store, newcomer.clientId);
  assertEquals([registered?.event, updated?.event, more], ["client.registered", "client.updated", []]);
  assertEquals(registered?.actor, newcomer.clientId);
  assertEquals(registered?.authentication, {
    clientId: newcomer.clientId,
    certificate: await spkiThumbprint(certificate.publicKey.rawData),
    method: "POST",
    target: `${BASE_URL}/register/v1`,
    assertion: { kid: newcomer.signing.kid, jtiHash: await sha256(jti) },
  });
  assertEquals(
    [registered?.documents, updated?.documents],
    await Promise.all([newcomer.statement, statement].map(async (text) => [
      { kind: "tpp_statement", sha256: await sha256(text) },
    ])),
  );
});

Deno.test("POST register makes a bank addressable, with the grant that the contract names for it [DC8]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const bank = await onboardOnly(env, {
    name: "Bank C plc",
    role: "ASPSP",
    orgId: "BANKC",
    keys: [10, 11],
    redirectUris: ["https://bank-c.example/sca"],
  });
  assertEquals((await requestToken(env, env.tpp, "BANKC")).status, 404);
  const response = await postRegistration(env, bank);
  assertEquals(response.status, 201);
  const { scope, grant_types } = await bodyOf(response);
  assertEquals([scope, grant_types], ["bank", ["authorization_code"]]);
  assertEquals((await requestToken(env, env.tpp, "BANKC")).status, 200);
  assertEquals((await requestToken(env, bank, "BANKC")).status, 200); // Decision B1
});

Deno.test("POST register keeps client_uri and logo_uri for pages, but only a web address over https [G1, BH5]", async (t) => {
  const kept: Readonly<Record<string, string | undefined>> = {
    "https://www.new.example": "https://www.new.example/",
    "https://www.new.example/shop?a=1": "https://www.new.example/shop?a=1",
    "http://www.new.example/": undefined,
    "http://localhost:8444/": undefined,
    "javascript:alert(1)": undefined,
    "https://user:secret@www.new.example/": undefined,
    "not an address": undefined,
  };
  await steps(t, kept, async (expected, stated) => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    const statement = await statementWith(newcomer, {
      claims: { software_client_uri: stated, logo_uri: stated },
    });
    assertEquals((await postRegistration(env, newcomer, { statement })).status, 201);
    const stored = await env.store.get<Record<string, string>>(["client", newcomer.clientId]);
    assertEquals([stored?.value["clientUri"], stored?.value["logoUri"]], [expected, expected]);
  });
});

Deno.test("POST register accepts what the contract leaves to the participant [DC1] [DC6] [DC7] [DC9]", async (t) => {
  const accepted: Readonly<Record<string, Parameters<typeof postRegistration>[2]>> = {
    "the optional claims left out": {
      claims: {
        response_types: undefined,
        software_id: undefined,
        request_object_signing_alg: undefined,
        token_endpoint_auth_signing_alg: undefined,
        id_token_signed_response_alg: undefined,
      },
    },
    "response_types as the string code": { claims: { response_types: "code" } },
    "some of the statement's redirect_uris": { claims: { redirect_uris: ["https://new.example/a"] } },
    "iat 30 s ahead of the clock": { claims: { iat: START / 1000 + 30 } },
    "exp 29 s ago": { claims: { iat: START / 1000 - 60, exp: START / 1000 - 29 } },
    "a life of an hour": { claims: { exp: START / 1000 + 3600 } },
    "a media type in capitals with a charset": { contentType: "Application/JOSE; charset=UTF-8" },
  };
  await steps(t, accepted, async (changes) => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const response = await postRegistration(env, await onboardOnly(env, NEWCOMER), changes);
    assertEquals(response.status, 201, env.logged.at(-2));
    const expected = changes?.claims?.["redirect_uris"] ?? NEWCOMER.redirectUris;
    assertEquals((await bodyOf(response)).redirect_uris, expected);
  });
});

Deno.test("POST register takes the participant's name or org_id as iss, one line break, and a padded kid [DC1] [DC7] [A11]", async (t) => {
  await t.step("iss is the org_id", async () => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    const response = await postRegistration(env, newcomer, { claims: { iss: newcomer.orgId } });
    assertEquals(response.status, 201);
  });
  await t.step("kid with base64 padding", async () => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    const header = { kid: `${newcomer.signing.kid}=` };
    assertEquals((await postRegistration(env, newcomer, { header })).status, 201);
  });
  for (const [name, end] of Object.entries({ "LF": "\n", "CRLF": "\r\n" })) {
    await t.step(`one ${name} behind the JWT`, async () => {
      await using env = await openEnvironment(MANY_REGISTRATIONS);
      const newcomer = await onboardOnly(env, NEWCOMER);
      const jwt = await registrationJwt(env, newcomer);
      assertEquals((await postRegistration(env, newcomer, { body: jwt + end })).status, 201);
    });
  }
});
