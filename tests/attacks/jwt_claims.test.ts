/**
 * Claims for another audience, kind, bank or time, and names that pollute prototypes
 * (contract J1 to J38).
 */
import { requestToken } from "testing/flows.ts";
import { assertionOf } from "support/jwt_places.ts";
import { signJwt } from "testing/jwts.ts";
import { assertApiError } from "testing/oauth_requests.ts";
import { onboardOnly, registrationClaims } from "testing/participants.ts";
import { NEWCOMER, postRegistration, registrationJwt } from "testing/registration.ts";
import { DIRECTORY_URL, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { unchanged } from "testing/store_contents.ts";

Deno.test("a client assertion proves no key, and a DPoP proof authenticates no client [J27] [CA-N22]", async (t) => {
  await using env = await openEnvironment();
  const { signing } = env.tpp;
  const target = { htm: "POST", htu: "https://api.platform.example/BANKA/token.oauth2/v1" };
  const proof = { ...target, iat: env.now / 1000, jti: crypto.randomUUID() };
  const key = { kid: undefined, jwk: signing.key.publicJwk };
  const asAssertions: Readonly<Record<string, () => Promise<string>>> = {
    "a proof by the client's signing key": () => signJwt(signing, proof, { ...key, typ: "dpop+jwt" }),
    "a proof with the claims of an assertion": () =>
      signJwt(signing, { ...assertionOf(env, env.tpp), ...target }, { ...key, typ: "dpop+jwt" }),
    "an assertion with the claims of a proof": () =>
      signJwt(signing, { ...assertionOf(env, env.tpp), ...target }),
    "an assertion of the type of a proof": () =>
      signJwt(signing, assertionOf(env, env.tpp), { typ: "dpop+jwt" }),
    "an assertion with the claims of a registration": () =>
      signJwt(signing, { ...registrationClaims(env, env.tpp), ...assertionOf(env, env.tpp) }),
    "an assertion with the claims of a handover": () =>
      signJwt(signing, {
        ...assertionOf(env, env.tpp),
        correlation_id: crypto.randomUUID(),
        bank_id: "BANKA",
      }),
  };
  for (const [name, make] of Object.entries(asAssertions)) {
    await t.step(`${name}, as the assertion`, async () => {
      const token = await make();
      const send = () => requestToken(env, env.tpp, "BANKA", { form: { client_assertion: token } });
      await assertApiError(await unchanged(env, send), [401, "invalid_client"]);
    });
  }
  const asProofs: Readonly<Record<string, () => Promise<string>>> = {
    "an assertion": () => signJwt(signing, assertionOf(env, env.tpp), { typ: undefined }),
    "an assertion with its key and the claims of a proof": () =>
      signJwt(signing, { ...assertionOf(env, env.tpp), ...target }, { ...key, typ: "JWT" }),
    "an assertion of the type of a proof, without its key": () =>
      signJwt(signing, { ...assertionOf(env, env.tpp), ...target }, { typ: "dpop+jwt" }),
  };
  await stepsOf(t, Object.entries(asProofs), ([name]) => `${name}, as the proof`, async ([, make]) => {
    const token = await make();
    const send = () => requestToken(env, env.tpp, "BANKA", { proof: token });
    await assertApiError(await unchanged(env, send), [400, "invalid_dpop_proof"]);
  });
});

Deno.test("a software statement registers no client by itself, and a registration JWT is no statement [J28]", async (t) => {
  await using env = await openEnvironment();
  const newcomer = await onboardOnly(env, NEWCOMER);
  const own = registrationClaims(env, newcomer);
  const rejected = (name: string, body: () => Promise<string>, error: string): Promise<boolean> =>
    t.step(name, async () => {
      const token = await body();
      const answer = await unchanged(env, () => postRegistration(env, newcomer, { body: token }));
      await assertApiError(answer, [400, error]);
    });
  await rejected(
    "the statement by itself",
    () => Promise.resolve(newcomer.statement),
    "invalid_client_metadata",
  );
  await rejected(
    "another registration JWT as the statement",
    async () => registrationJwt(env, newcomer, { statement: await registrationJwt(env, newcomer) }),
    "unapproved_software_statement",
  );
  await rejected(
    "another registration JWT, of the directory by its word",
    async () =>
      registrationJwt(env, newcomer, {
        statement: await registrationJwt(env, newcomer, { claims: { iss: DIRECTORY_URL } }),
      }),
    "invalid_software_statement",
  );
  await rejected(
    "the statement's claims in the participant's hand",
    async () => registrationJwt(env, newcomer, { statement: await signJwt(newcomer.signing, own) }),
    "unapproved_software_statement",
  );
  await rejected(
    "a list of statements",
    () => registrationJwt(env, newcomer, { claims: { software_statement: [newcomer.statement] } }),
    "invalid_software_statement",
  );
  await rejected(
    "the claims of both in one",
    () =>
      signJwt(newcomer.signing, {
        ...own,
        software_statement: undefined,
        software_client_id: newcomer.clientId,
      }),
    "invalid_software_statement",
  );
});
