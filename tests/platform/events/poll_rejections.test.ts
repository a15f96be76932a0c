/** Polls for events that are rejected: they acknowledge no event (contract EVT-N1 to EVT-N3). */
import { assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { type BoundToken, clientToken } from "testing/flows.ts";
import { dpopProof } from "testing/jwts.ts";
import { assertBare, assertChallenge, assertFaults, type ExpectedFault } from "testing/resource_answers.ts";
import { setSoftware } from "support/directory_network.ts";
import { BOUND_MS } from "support/standing.ts";
import { steps } from "support/steps.ts";
import { testWith } from "support/environment_test.ts";
import { EVENTS, poll, type PollOptions, waiting } from "./poll.ts";
import { unchanged } from "testing/store_contents.ts";

const test = testWith(() => openWaiting());

const NO_ERROR = 'DPoP algs="PS256"';
const INVALID_TOKEN = 'DPoP error="invalid_token", algs="PS256"';
const INVALID_PROOF = 'DPoP error="invalid_dpop_proof", algs="PS256"';
const INSUFFICIENT = 'DPoP error="insufficient_scope", scope="payments", algs="PS256"';

/** A client whose event waits, and its token. */
async function openWaiting(): Promise<Environment & { ack: object; bound: BoundToken; payment: BoundToken }> {
  const env = await openEnvironment();
  const { payment } = await authorised(env);
  const bound = await clientToken(env, env.tpp);
  const [{ jti } = { jti: "" }] = await waiting(env, { bound });
  return Object.assign(env, { ack: { ack: [jti], returnImmediately: true }, bound, payment });
}

type Waiting = Awaited<ReturnType<typeof openWaiting>>;
type Attempt = (env: Waiting) => PollOptions | Promise<PollOptions>;

const CALLERS: Readonly<Record<string, readonly [status: 400 | 401 | 403, challenge: string, Attempt]>> = {
  "no certificate": [401, INVALID_TOKEN, () => ({ as: null })],
  "the certificate of another TPP": [401, INVALID_TOKEN, ({ otherTpp, bound }) => ({ by: otherTpp, bound })],
  "no token": [401, NO_ERROR, () => ({ headers: { authorization: undefined } })],
  "a bearer token": [401, NO_ERROR, ({ bound }) => ({ headers: { authorization: `Bearer ${bound.token}` } })],
  "a token of another bank": [
    401,
    INVALID_TOKEN,
    async (env) => ({ bound: await clientToken(env, env.tpp, "BANKB") }),
  ],
  "the token of one consent": [403, INSUFFICIENT, ({ payment }) => ({ bound: payment })],
  "the bank's own token": [
    403,
    INSUFFICIENT,
    async (env) => ({ by: env.bankA, bound: await clientToken(env, env.bankA) }),
  ],
  "no proof": [401, INVALID_PROOF, () => ({ proof: null })],
  "a proof for GET": [401, INVALID_PROOF, () => ({ proofChanges: { claims: { htm: "GET" } } })],
  "a proof for another address": [
    401,
    INVALID_PROOF,
    () => ({ proofChanges: { claims: { htu: `${BASE_URL}/BANKB/events/v1` } } }),
  ],
};

test("polling rejects callers without the right to it, and acknowledges nothing [EVT-N1]", async ({ env, t }) => {
  await steps(t, CALLERS, async ([status, challenge, attempt]) => {
    const options = await attempt(env);
    const send = (): Promise<Response> => poll(env, env.ack, { bound: env.bound, ...options });
    await assertChallenge(await unchanged(env, send), status, challenge);
  });
  assertEquals((await waiting(env)).length, 1);
});

test("a poll's proof is used once: the acknowledgement of a replay has no effect [EVT-N1]", async ({ env }) => {
  const { bound } = env;
  const proof = await dpopProof(env, bound.key, {
    method: "POST",
    url: BASE_URL + EVENTS,
    accessToken: bound.token,
  });
  assertEquals((await poll(env, { ...env.ack, ack: [] }, { bound, proof })).status, 200);
  await assertChallenge(await unchanged(env, () => poll(env, env.ack, { bound, proof })), 401, INVALID_PROOF);
});

test("a client that is not active any more gets no events [EVT-N1, G5]", async ({ env }) => {
  await setSoftware(env, env.tpp, "Revoked");
  env.now += BOUND_MS;
  assertEquals((await poll(env, env.ack, { bound: env.bound })).status, 401);
});

const many = (count: number, each: (n: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, n) => each(n));
const errors = (count: number): object =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`jti-${n}`, { err: "invalid_key", description: "x" }]),
  );

const BODIES: Readonly<Record<string, readonly [body: object | string, ...faults: ExpectedFault[]]>> = {
  "an unknown member": [{ acks: [] }, ["Field.Unexpected", "acks"]],
  "ack that is no list": [{ ack: "x" }, ["Field.Invalid", "ack"]],
  "ack of numbers": [{ ack: [1] }, ["Field.Invalid", "ack[0]"]],
  "an empty jti": [{ ack: [""] }, ["Field.Invalid", "ack[0]"]],
  "a jti of 129 characters": [{ ack: ["x".repeat(129)] }, ["Field.Invalid", "ack[0]"]],
  "501 jti": [{ ack: many(501, (n) => `${n}`) }, ["Field.Invalid", "ack"]],
  "maxEvents that is negative": [{ maxEvents: -1 }, ["Field.Invalid", "maxEvents"]],
  "maxEvents that is no whole number": [{ maxEvents: 1.5 }, ["Field.Invalid", "maxEvents"]],
  "maxEvents that is a text": [{ maxEvents: "1" }, ["Field.Invalid", "maxEvents"]],
  "returnImmediately that is a text": [{ returnImmediately: "true" }, ["Field.Invalid", "returnImmediately"]],
  "91 errors": [{ setErrs: errors(91) }, ["Field.Invalid", "setErrs"]],
  "an error without its description": [
    { setErrs: { x: { err: "invalid_key" } } },
    ["Field.Missing", "setErrs.x.description"],
  ],
  "null for a member": [{ ack: null }, ["Field.Invalid", "ack"]],
  "a list": [[], ["Resource.InvalidFormat"]],
  "no JSON": ["{", ["Resource.InvalidFormat"]],
  "a member twice": ['{"ack":[],"ack":[]}', ["Resource.InvalidFormat"]],
};

test("polling names every faulty place of its body, and acknowledges nothing [EVT-N2]", async ({ env, t }) => {
  await steps(t, BODIES, async ([body, ...faults]) => {
    const withAck = typeof body === "string" || Array.isArray(body) ? body : { ...env.ack, ...body };
    const send = (): Promise<Response> => poll(env, withAck, { bound: env.bound });
    await assertFaults(await unchanged(env, send), 400, faults);
  });
  assertEquals((await waiting(env)).length, 1);
});

test("polling takes JSON only, of at most 64 KiB, and answers in JSON [EVT-N3]", async ({ env }) => {
  const { bound } = env;
  const send = (options: PollOptions, body: unknown = env.ack): Promise<Response> =>
    unchanged(env, () => poll(env, body, { bound, ...options }));
  assertEquals((await send({ headers: { "content-type": "text/plain" } })).status, 415);
  assertEquals((await send({ headers: { "content-encoding": "gzip" } })).status, 415);
  assertEquals(
    (await send({}, { ack: many(500, () => "x".repeat(128)).concat(), description: "x".repeat(4000) }))
      .status,
    413,
  );
  await assertBare(await send({ headers: { accept: "application/jwt" } }), 406);
  for (const method of ["GET", "PUT", "DELETE"]) {
    const answer = await env.api(new Request(BASE_URL + EVENTS, { method }), env.tpp);
    assertEquals(answer.headers.get("allow"), "POST");
    await assertBare(answer, 405);
  }
});

Deno.test("polling is limited with the reads of its client [EVT3, RL1]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_RATE_LIMITS: "reads=1/3" } });
  const bound = await clientToken(env, env.tpp);
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++) statuses.push((await poll(env, undefined, { bound })).status);
  assertEquals(statuses, [200, 200, 200, 429]);
});
