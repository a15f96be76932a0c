/**
 * The cost of a request that the admission control rejects. A flood of them must leave the processor to other requests.
 * Compares the cost of a request that the admission control rejects with the cost of a served one.
 */
import { assertLess } from "@std/assert";
import { openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import { BASE_URL, throughProxy } from "testing/environment.ts";
import { call, clientToken, createConsent, type FlowEnvironment, good } from "testing/flows.ts";
import { signJwt } from "testing/jwts.ts";
import { onboardOnly, type Participant, registrationClaims } from "testing/participants.ts";
import { cpuMilliseconds } from "../../../../scripts/proofs/bench/process.ts";
import { BANK } from "../../../../scripts/proofs/bench/steps.ts";

/** A request that is signed already. */
interface ReadyRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: [string, string][];
}

/** Processor time of the whole process for one request, milliseconds. */
interface RejectionCost {
  readonly served: number;
  readonly rejected: number;
}

/** Requests of each kind. All of them can wait at once. */
const COUNT = 100;
/** As many requests of one participant may be open; while their bodies do not come, all others of it wait. */
const OPEN = 128;
const SERVED_AT_ONCE = 4;
/** The first ones warm up, and the process also does background work: the least of them contains the least of both. */
const ROUNDS = 5;
/** A body must come within 5 s. On a slow computer that may be over before every request is rejected. */
const ATTEMPTS = 2 * ROUNDS;

/** Requests of one participant, each of another consent: a repeated read reuses its signature. A rejected request is not used up, so one is sent again and again. */
const REQUESTS = 2 * COUNT + ATTEMPTS;

/**
 * Measures it at a platform that serves no other requests meanwhile, and whose rate limits are above their number.
 *
 * @throws {Error} if a request is not answered as expected
 */
async function rejectionCost(env: ServedEnvironment): Promise<RejectionCost> {
  const { process: { pid } } = env;
  const requests = await signRequests(env);
  await costOf(pid, requests.slice(0, COUNT), SERVED_AT_ONCE, 200); // warms up
  const served = await costOf(pid, requests.slice(COUNT, 2 * COUNT), SERVED_AT_ONCE, 200);
  if (served === undefined) throw new Error("not every request was served");
  const rounds: number[] = [];
  for (const request of requests.slice(2 * COUNT)) {
    const cost = await costOfRejections(pid, request);
    if (cost !== undefined) rounds.push(cost);
    if (rounds.length === ROUNDS) return { served, rejected: Math.min(...rounds) };
  }
  throw new Error("not every request was rejected");
}

async function signRequests(env: ServedEnvironment): Promise<readonly ReadyRequest[]> {
  const tpp = await registerTpp(env);
  const kept: Request[] = [];
  const own: FlowEnvironment = Object.assign(Object.create(env), { tpp });
  const recording: FlowEnvironment = Object.assign(Object.create(own), {
    api: (request: Request): Promise<Response> => {
      kept.push(throughProxy(request, tpp));
      return Promise.resolve(new Response());
    },
  });
  const bound = await clientToken(own, tpp, BANK);
  while (kept.length < REQUESTS) {
    const { Data } = await createConsent(own, bound, undefined, BANK);
    await call(recording, tpp, bound, `/${BANK}/domestic-payment-consents/v1/${Data.ConsentId}`);
  }
  const origin = `http://127.0.0.1:${env.fixture.env["PORT"]}`;
  return kept.map(({ url, method, headers }) => ({
    url: origin + new URL(url).pathname,
    method,
    headers: [...headers],
  }));
}

async function registerTpp(env: ServedEnvironment): Promise<Participant> {
  const tpp = await onboardOnly(env.fixture, {
    name: "Flood Ltd",
    role: "PISP",
    keys: [14, 15],
    redirectUris: env.tpp.redirectUris,
  });
  const body = await signJwt(tpp.signing, registrationClaims(env.fixture, tpp));
  const headers = { "content-type": "application/jose" };
  await good(env.api(new Request(`${BASE_URL}/register/v1`, { method: "POST", headers, body }), tpp), 201);
  return tpp;
}

/** Bodies of its own each time: they must be open until every request is rejected. */
async function costOfRejections(pid: number, request: ReadyRequest): Promise<number | undefined> {
  await using _open = await openBodies(request);
  return await costOf(pid, Array.from({ length: COUNT }, () => request), COUNT, 503);
}

/** Undefined if one of them is answered otherwise. */
async function costOf(
  pid: number,
  requests: readonly ReadyRequest[],
  atOnce: number,
  status: number,
): Promise<number | undefined> {
  const before = await cpuMilliseconds(pid);
  const statuses: number[] = [];
  for (let sent = 0; sent < requests.length; sent += atOnce) {
    statuses.push(...await Promise.all(requests.slice(sent, sent + atOnce).map(ask)));
  }
  const spent = await cpuMilliseconds(pid) - before;
  return statuses.every((seen) => seen === status) ? spent / requests.length : undefined;
}

async function ask({ url, ...init }: ReadyRequest): Promise<number> {
  const answer = await fetch(url, init);
  await answer.body?.cancel();
  return answer.status;
}

/** Requests of the same participant whose bodies the platform waits for: it has sent `100 Continue`. */
async function openBodies(like: ReadyRequest): Promise<AsyncDisposable> {
  const { hostname, port, pathname } = new URL(like.url);
  const [, bank = ""] = pathname.split("/");
  const vouched = like.headers.filter(([name]) => name === "x-proxy-secret" || name === "client-cert");
  const head = [
    `POST /${bank}/token.oauth2/v1 HTTP/1.1`,
    "Host: api",
    "Content-Type: application/x-www-form-urlencoded",
    "Content-Length: 10",
    "Expect: 100-continue",
    ...vouched.map(([name, value]) => `${name}: ${value}`),
  ];
  const bytes = new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n`);
  const connections = await Promise.all(Array.from({ length: OPEN }, async () => {
    const connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(bytes);
    await connection.read(new Uint8Array(100));
    return connection;
  }));
  return {
    [Symbol.asyncDispose]: () => {
      for (const connection of connections) connection.close();
      return Promise.resolve();
    },
  };
}

/** Of the processor time of a request that is served: two signatures are checked and one is made for it. */
const MAX_SHARE = 0.25;

Deno.test({
  name: "a rejected request takes at most a quarter of the processor time of one that is served",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using env = await openServedEnvironment({
      PLATFORM_RATE_LIMITS: "authorization=1000/1000,consents=1000/1000,reads=1000/1000",
      PLATFORM_REQUEST_WAIT_SECONDS: "1",
    });
    const { served, rejected } = await rejectionCost(env);
    assertLess(rejected / served, MAX_SHARE);
  },
});
