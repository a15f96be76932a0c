/**
 * `POST /register/v1`: software statements that must not be believed (contract DC2-DC4, DC-N2 to DC-N7, DC-N21). `POST
 * /register/v1`: the words of a rejected request that came with the participant's own certificate. [G8].
 */
import type { Signer } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { onboardOnly, type Participant } from "testing/participants.ts";
import {
  assertRejected,
  directorySigner,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  type RegistrationChanges,
  registrationJwt,
  renewedStatement,
  statementWith,
} from "testing/registration.ts";
import { DIRECTORY_URL, type Environment, openEnvironment, START } from "testing/environment.ts";
import { claiming, type MakeStatement, rejectAll } from "./statements.ts";
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { rejectionOf } from "testing/answers.ts";
import { testWith } from "support/environment_test.ts";

const test = testWith(() => openEnvironment(MANY_REGISTRATIONS));

function without(...names: readonly string[]): MakeStatement {
  return claiming(Object.fromEntries(names.map((name) => [name, undefined])));
}

Deno.test("POST register rejects a registration without a statement [DC-N2]", async (t) => {
  const values = {
    software_client_id: "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11",
    software_redirect_uris: ["https://new.example/callback"],
    org_id: "newshop",
  };
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  for (
    const [name, claims] of Object.entries({
      "left out, its values put beside it": { software_statement: undefined, ...values },
      "an object": { software_statement: values },
      "null": { software_statement: null },
      "an empty string": { software_statement: "" },
    })
  ) {
    await t.step(name, async () => {
      const attempt = (): Promise<Response> => postRegistration(env, newcomer, { claims });
      await assertRejected(env, attempt, 400, "invalid_software_statement");
    });
  }
});

Deno.test("POST register rejects a statement by anybody but the directory [DC-N4] [DC2]", async (t) => {
  await rejectAll(t, "invalid_software_statement", {
    "the participant's signing key": (newcomer) => statementWith(newcomer, { signer: newcomer.signing }),
    "the participant's key under the directory's kid": async (newcomer) => {
      const { kid } = await directorySigner();
      return await statementWith(newcomer, { signer: { key: newcomer.signing.key, kid } });
    },
    "another participant's key": (newcomer, env) => statementWith(newcomer, { signer: env.bankA.signing }),
  });
});

Deno.test("POST register rejects a statement of another directory, state or environment [DC-N5] [DC3]", async (t) => {
  const otherDirectory = async (newcomer: Participant): Promise<string> => {
    const signer: Signer = { key: await testKey(15), kid: "other-directory" };
    return await statementWith(newcomer, { signer, claims: { iss: "https://other-directory.example" } });
  };
  await rejectAll(t, "unapproved_software_statement", {
    "another directory": otherDirectory,
    "another issuer, the directory's key": claiming({ iss: "https://other-directory.example" }),
    "the issuer with a slash": claiming({ iss: `${DIRECTORY_URL}/` }),
    "software Inactive": claiming({ software_client_status: "Inactive" }),
    "software Revoked": claiming({ software_client_status: "Revoked" }),
    "software active in lower case": claiming({ software_client_status: "active" }),
    "environment Sandbox": claiming({ software_environment: "Sandbox" }),
    "an unknown role": claiming({ software_roles: ["AISP"] }),
    "a bank whose org_id is no bank code": claiming({ software_roles: ["ASPSP"], org_id: "bank a" }),
    ...Object.fromEntries(
      ["health", "Operations", "docs", "jwks", "assets", "register", "problem", "__proto__", "toString"].map(
        (code) => [`a bank named ${code}`, claiming({ software_roles: ["ASPSP"], org_id: code })],
      ),
    ),
  });
});

Deno.test("POST register rejects a statement without one of its members [DC2]", async (t) => {
  const names = [
    "jti",
    "software_client_id",
    "software_id",
    "software_client_name",
    "software_client_status",
    "software_environment",
    "software_roles",
    "software_redirect_uris",
    "org_id",
    "org_name",
    "org_jwks_endpoint",
    "org_jwks_revoked_endpoint",
  ];
  await rejectAll(t, "invalid_software_statement", {
    ...Object.fromEntries(names.map((name) => [`${name} missing`, without(name)])),
    "iss missing": without("iss"),
    "a client id of another form [DC14]": claiming({ software_client_id: "SC-1" }),
    "a client id like a user name [DC14]": claiming({ software_client_id: "alice" }),
    "two roles [DC3]": claiming({ software_roles: ["PISP", "ASPSP"] }),
    "no role [DC3]": claiming({ software_roles: [] }),
    "a redirect URL of 2049 characters [DC9]": claiming({
      software_redirect_uris: ["https://new.example/callback", `https://new.example/${"a".repeat(2029)}`],
    }),
    "consent_managedby_bank as a string": claiming({ consent_managedby_bank: "true" }),
  });
});

const GENERIC = "The software statement is missing, malformed, expired or not authentic.";

async function rejectionText(
  env: Environment,
  participant: Participant,
  changes: RegistrationChanges = {},
): Promise<[number, string]> {
  const response = await postRegistration(env, participant, changes);
  return [response.status, (await rejectionOf(response)).error_description];
}

test("POST register says that the client is registered already, and with which statement [B6] [G8]", async ({ env, t }) => {
  const { tpp } = env;
  const registered = (statement: string, at: string): string => {
    const { iat, jti } = decodeJwt(statement);
    return `Client ${tpp.clientId} is registered already, with the software statement that was issued at ` +
      `${at} (iat ${iat}, jti ${jti}). To update the registration, send a statement that was issued later.`;
  };
  const words = registered(tpp.statement, "2040-01-15T12:00:00+00:00");
  await t.step("the same statement in a new JWT", async () => {
    assertEquals(await rejectionText(env, tpp), [400, words]);
  });
  await t.step("another statement of the same second", async () => {
    const statement = await statementWith(tpp, { claims: { jti: "twin" } });
    assertEquals(await rejectionText(env, tpp, { statement }), [400, words]);
  });
  await t.step("an older statement, after an update", async () => {
    env.now += 60_000;
    const statement = await renewedStatement(env, tpp);
    assertEquals((await postRegistration(env, tpp, { statement })).status, 201);
    assertEquals(await rejectionText(env, tpp), [400, registered(statement, "2040-01-15T12:01:00+00:00")]);
  });
  await t.step("a jti that cannot stand in an error_description is left out", async () => {
    env.now += 60_000;
    const iat = env.now / 1000;
    const statement = await statementWith(tpp, { claims: { jti: 'a "quoted" id', iat } });
    assertEquals((await postRegistration(env, tpp, { statement })).status, 201);
    const [status, found] = await rejectionText(env, tpp, { statement });
    assertEquals([status, found.includes(`(iat ${iat})`)], [400, true], found);
  });
});

test("POST register tells nothing about a registration to the holder of another certificate [G8]", async ({ env }) => {
  const words = await rejectionText(env, env.tpp, { as: env.otherTpp });
  assertEquals(words, [401, "Client authentication failed."]);
  const { kid } = env.otherTpp.signing;
  const notMine = await rejectionText(env, env.tpp, { as: env.otherTpp, header: { kid } });
  assertEquals(notMine, [400, "The registration request is not acceptable."]);
});

test("POST register says that a registration JWT was used before [DC-N10] [G8]", async ({ env }) => {
  const newcomer = await onboardOnly(env, NEWCOMER);
  const body = await registrationJwt(env, newcomer);
  assertEquals((await postRegistration(env, newcomer, { body })).status, 201);
  assertEquals(await rejectionText(env, newcomer, { body }), [
    400,
    "registration JWT jti must be new for each registration; got one used before.",
  ]);
});

test("POST register says why a newer statement cannot replace the registered one [FAPI-D17] [G8]", async ({ env, t }) => {
  const iat = START / 1000 + 20;
  await t.step("of another organisation", async () => {
    const statement = await statementWith(env.tpp, { claims: { org_id: "outsider", iat } });
    assertEquals(await rejectionText(env, env.tpp, { statement }), [
      400,
      "The software_client_id of the software statement is registered for another org_id.",
    ]);
  });
  await t.step("of another bank client under the same code", async () => {
    const software_client_id = "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11";
    const software_id = software_client_id;
    const statement = await statementWith(env.bankA, { claims: { software_client_id, software_id, iat } });
    assertEquals(await rejectionText(env, env.bankA, { statement, claims: { software_id } }), [
      400,
      "The org_id of the software statement is the code of a bank that is registered with another " +
      "software_client_id.",
    ]);
  });
});

test("POST register explains a statement that is not authentic to a registered participant alone [G8]", async ({ env }) => {
  const { tpp } = env;
  const changes = { statement: `${tpp.statement}x` };
  const newcomer = await onboardOnly(env, NEWCOMER);
  assertEquals(await rejectionText(env, newcomer, changes), [400, GENERIC]);
  assertEquals(await rejectionText(env, tpp, changes), [
    400,
    "software_statement must be a compact JWS: three segments of canonical base64url.",
  ]);
});
