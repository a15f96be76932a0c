import { signJwt } from "testing/jwts.ts";
import { onboardOnly } from "testing/participants.ts";
import {
  assertRejected,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  statementWith,
} from "testing/registration.ts";
import { openEnvironment, START } from "testing/environment.ts";
import { testWith } from "support/environment_test.ts";
import { claiming, rejectAll } from "./statements.ts";

const test = testWith(() => openEnvironment(MANY_REGISTRATIONS));

const NOW = START / 1000;

test("POST register rejects a statement by another participant, unfetched and unstored [DC-N7]", async ({ env }) => {
  const newcomer = await onboardOnly(env, NEWCOMER);
  const { otherTpp } = env;
  const stolen = { claims: { iss: newcomer.name, software_id: newcomer.clientId } };
  const attempt = async (): Promise<Response> =>
    await postRegistration(env, newcomer, { ...stolen, signer: otherTpp.signing, as: otherTpp });
  await assertRejected(env, attempt, 400, "invalid_client_metadata");
  const withOwnersCertificate = (): Promise<Response> =>
    postRegistration(env, newcomer, { ...stolen, signer: otherTpp.signing });
  await assertRejected(env, withOwnersCertificate, 400, "invalid_client_metadata");
});

Deno.test("POST register rejects key sets outside the allow-list, asked for nothing [DC-N21] [DC4]", async (t) => {
  const bad = [
    "https://evil.example/jwks",
    "https://directory.example.evil.example/jwks",
    "https://evil.directory.example/jwks",
    "https://directory.example:8443/jwks",
    "https://directory.example@evil.example/jwks",
    "https://user:secret@directory.example/jwks",
    "http://directory.example/jwks",
    "http://127.0.0.1/jwks",
    "https://127.0.0.1/jwks",
    "https://[::1]/jwks",
    "https://169.254.169.254/latest/meta-data",
    "file:///etc/passwd",
    "data:application/json,{}",
    "//directory.example/jwks",
    "jwks",
  ];
  const members = ["org_jwks_endpoint", "org_jwks_revoked_endpoint"];
  await rejectAll(
    t,
    "unapproved_software_statement",
    Object.fromEntries(
      members.flatMap((member) => bad.map((url) => [`${member} ${url}`, claiming({ [member]: url })])),
    ),
  );
});

test("POST register rejects a registration for the client id of another organisation [DC10] [DC14]", async ({ env }) => {
  const newcomer = await onboardOnly(env, NEWCOMER);
  const claims = { software_client_id: env.tpp.clientId, software_id: env.tpp.clientId, iat: NOW + 20 };
  const statement = await statementWith(newcomer, { claims });
  const changes = { statement, claims: { software_id: env.tpp.clientId } };
  const attempt = (): Promise<Response> => postRegistration(env, newcomer, changes);
  await assertRejected(env, attempt, 400, "invalid_software_statement");
});

test("POST register rejects a second software under a bank's code [A4]", async ({ env }) => {
  const { bankA } = env;
  const claims = { software_client_id: "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11", iat: NOW + 20 };
  const statement = await statementWith(bankA, { claims });
  const attempt = (): Promise<Response> => postRegistration(env, bankA, { statement });
  await assertRejected(env, attempt, 400, "invalid_software_statement");
});

test("POST register: a statement is valid by its signature alone, whichever participant sends it [DC11]", async ({ env }) => {
  const newcomer = await onboardOnly(env, NEWCOMER);
  const jwt = await signJwt(newcomer.signing, { software_statement: newcomer.statement });
  await assertRejected(
    env,
    () => postRegistration(env, newcomer, { body: jwt }),
    400,
    "invalid_client_metadata",
  );
});
