/** Client assertions that the OpenID conformance suite sends to PAR and the token endpoint, one defect each. */
import { assertEquals } from "@std/assert";
import { postForm, pushForm, requestToken } from "../../scripts/testing/flows.ts";
import { clientAssertion, type JsonObject } from "../../scripts/testing/jwts.ts";
import { awaitingConsent } from "../../scripts/testing/oauth_requests.ts";
import { AUTH_URL, BASE_URL, openWorld, type World } from "../../scripts/testing/environment.ts";
import { importPrivate, segment } from "../../scripts/testing/raw_jws.ts";

/** What becomes of a good assertion; undefined leaves the parameter out. */
type Defect = (world: World) => Promise<string | undefined>;

const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const TYPES: Readonly<Record<string, string | undefined>> = {
  "client_assertion_type missing [CA-N2]": undefined,
  "client_assertion_type wrong [CA-N2]": "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
};

const REFUSED: Readonly<Record<string, Defect>> = {
  "no sub [EnsureClientAssertionWithNoSubFails, CA-N9]": claims(() => ({ sub: undefined })),
  "wrong sub [CA-N10]": claims((world) => ({ sub: world.otherTpp.clientId })),
  "no iss [CA-N10]": claims(() => ({ iss: undefined })),
  "wrong iss [CA-N10]": claims((world) => ({ iss: world.otherTpp.clientId })),
  "no aud [CA-N11]": claims(() => ({ aud: undefined })),
  "unrelated aud [EnsureClientAssertionWithWrongAudFails, CA-N11]": claims(() => ({
    aud: "https://other.example",
  })),
  "aud the PAR endpoint [PAREndpointAsAudienceFails, CA-N11]": claims(() => ({
    aud: `${BASE_URL}/BANKA/par.oauth2/v1`,
  })),
  "aud the token endpoint [PARTokenEndpointAsAudienceFails, CA-N11]": claims(() => ({
    aud: `${BASE_URL}/BANKA/token.oauth2/v1`,
  })),
  "aud an array of the issuer [PAREndpointAsArrayAudienceFails, CA-N11]": claims(() => ({
    aud: [`${AUTH_URL}/BANKA`],
  })),
  "aud an array of the issuer and an evil one [CA-N11, J30]": claims(() => ({
    aud: ["https://evil.example", `${AUTH_URL}/BANKA`],
  })),
  "exp five minutes ago [EnsureClientAssertionWithExpIs5MinutesInPastFails, CA-N12]": claims((world) => ({
    exp: world.now / 1000 - 300,
  })),
  "iat and nbf 62 s ahead [PAREnsureJWTClientAssertionWithIatNbfOver60SecondsInTheFutureFails, CA-N15]":
    claims(
      (world) => ahead(world, 62),
    ),
  "signed with RS256 [EnsureSignedClientAssertionWithRS256Fails, CA-N5]": rs256,
  "alg none [CA-N6]": async (world) => {
    const [, payload] = (await clientAssertion(world, world.tpp, "BANKA")).split(".");
    return `${segment({ alg: "none" })}.${payload}.`;
  },
  "signature altered": async (world) => {
    const good = await clientAssertion(world, world.tpp, "BANKA");
    return `${good.slice(0, -8)}${good.endsWith("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA"}`;
  },
  "no assertion [EnsureClientAssertionInTokenEndpoint, CA-N1]": () => Promise.resolve(undefined),
};

const ACCEPTED: Readonly<Record<string, Defect>> = {
  "iat and nbf 8 s ahead [PAREnsureJWTClientAssertionWithIatNbf8SecondsInTheFutureIsAccepted, CA-N14]":
    claims(
      (world) => ahead(world, 8),
    ),
  "a good one": claims(() => ({})),
};

Deno.test("PAR and the token endpoint refuse each invalid client assertion, and take a good one after them [EnsureInvalidClientAssertionsFail]", async (t) => {
  await using world = await openWorld();
  const consentId = await awaitingConsent(world);
  const endpoints = { PAR: push(consentId), token: token };
  for (const [endpoint, send] of Object.entries(endpoints)) {
    for (const [name, defect] of Object.entries(REFUSED)) {
      await t.step(`${endpoint}: ${name}`, async () => {
        const form = { client_assertion: await defect(world) };
        const before = await world.snapshot();
        assertEquals(await errorOf(send(world, form)), [401, "invalid_client"]);
        assertEquals(await world.snapshot(), before);
      });
    }
    for (const [name, type] of Object.entries(TYPES)) {
      await t.step(`${endpoint}: ${name}`, async () => {
        const answer = send(world, { client_assertion_type: type });
        assertEquals(await errorOf(answer), [400, "invalid_request"]);
      });
    }
    for (const [name, make] of Object.entries(ACCEPTED)) {
      await t.step(`${endpoint}: ${name}`, async () => {
        const form = { client_assertion: await make(world), client_assertion_type: JWT_BEARER };
        const answer = await send(world, form);
        assertEquals(answer.status, endpoint === "PAR" ? 201 : 200);
        await answer.body?.cancel();
      });
    }
  }
});

type Send = (world: World, form: Record<string, string | undefined>) => Promise<Response>;

function push(consentId: string): Send {
  return async (world, form) => {
    const good = await pushForm(world, world.tpp, "BANKA", consentId);
    return await postForm(world, "/BANKA/par.oauth2/v1", { ...good, ...form }, world.tpp);
  };
}

function token(world: World, form: Record<string, string | undefined>): Promise<Response> {
  return requestToken(world, world.tpp, "BANKA", { form });
}

async function errorOf(answer: Promise<Response>): Promise<unknown> {
  const { status, body } = await answer.then(async (response) => ({
    status: response.status,
    body: await response.json(),
  }));
  return [status, body.error];
}

function claims(changes: (world: World) => JsonObject): Defect {
  return (world) => clientAssertion(world, world.tpp, "BANKA", { claims: changes(world) });
}

function ahead(world: World, seconds: number): JsonObject {
  const iat = world.now / 1000 + seconds;
  return { iat, nbf: iat, exp: iat + 60 };
}

async function rs256(world: World): Promise<string> {
  const { key, kid } = world.tpp.signing;
  const [, payload] = (await clientAssertion(world, world.tpp, "BANKA")).split(".");
  const input = `${segment({ alg: "RS256", kid })}.${payload}`;
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const signer = await importPrivate(key.privateJwk, algorithm, "sign");
  const signature = await crypto.subtle.sign(algorithm.name, signer, new TextEncoder().encode(input));
  return `${input}.${segment(new Uint8Array(signature))}`;
}
