/**
 * Attackers around results that a bank delivers on the back channel: they know addresses, correlation ids and whole
 * JWTs of other customers, have sessions and cookies of their own, and are registered banks. None gets a code.
 */
import { assertEquals } from "@std/assert";
import { deliver, deliverJws, waitingPath } from "support/delivered_result.ts";
import { present } from "testing/answers.ts";
import { type AtBank, Browser, toBank } from "testing/authorization_flow.ts";
import { IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { assertCodeAnswer, codesIssued, consentStatus } from "testing/front_channel.ts";

const ATTEMPTS = 1000;
const AT_ONCE = 50;
const RACES = 24;

interface Victim {
  readonly flow: AtBank;
  readonly jws: string;
  /** The path of the return in the browser. */
  readonly back: string;
}

Deno.test("1,000 stolen, swapped, replayed and simultaneous returns of delivered results: none pays, none leaks [ARS5] [ARS6] [ARS2] [BR18]", async () => {
  await using env = await openEnvironment({ resultsOnBackChannel: true });
  const victims = await Promise.all(Array.from({ length: 8 }, () => victimOf(env)));
  const attackers = await Promise.all(Array.from({ length: 4 }, () => toBank(env, { body: IMPLICIT })));
  for (const { flow, jws } of victims.slice(0, 4)) await good(deliverJws(env, flow.bank, jws));
  const got = new Map<Victim, string[]>(victims.map((victim) => [victim, []]));
  for (let from = 0; from < ATTEMPTS; from += AT_ONCE) {
    const round = from / AT_ONCE;
    const attacks = Array.from({ length: AT_ONCE }, (_, n) => attack(env, from + n, victims, attackers));
    const victim = victims[round % 10]; // in the midst of the attacks
    if (victim !== undefined && round < 10) {
      if (round >= 4) await good(deliverJws(env, victim.flow.bank, victim.jws));
      got.get(victim)?.push(await assertCodeAnswer(await victim.flow.browser.open(waitingPath(victim.flow))));
    }
    for (const leaked of await Promise.all(attacks)) assertEquals(leaked, "");
  }
  const codes = [...got.values()].flat();
  assertEquals([codes.length, new Set(codes).size, await codesIssued(env)], [8, 8, 8]);
  for (const { flow } of victims) assertEquals(await consentStatus(env, flow), "Authorized");
  for (const flow of attackers) assertEquals(await consentStatus(env, flow), "AwaitingAuthorisation");
});

async function victimOf(env: Environment): Promise<Victim> {
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  return { flow, jws, back: await sealedReturn(env, flow.bank.orgId, jws) };
}

/** Returns what the attacker learned, or "" if it was nothing. */
async function attack(
  env: Environment,
  n: number,
  victims: readonly Victim[],
  attackers: readonly AtBank[],
): Promise<string> {
  const victim = present(victims[n % victims.length]);
  const attacker = present(attackers[n % attackers.length]);
  const { flow, jws, back } = victim;
  const name = `__Host-sca-${flow.handover.correlation_id}`;
  const [own = ""] = [...attacker.browser.cookies.values()];
  switch (n % 20) {
    case 0: // a whole return, stolen
      return await learned(new Browser(env).open(back));
    case 1: // in a browser with a session of its own
      return await learned(attacker.browser.open(back));
    case 2: // another bank delivers it
      return await learned(deliverJws(env, env.bankB, jws));
    case 3: // the attacker's cookie under the victim's name
      return await learned(new Browser(env).open(back, { headers: { cookie: `${name}=${own}` } }));
    case 4: // another bank's delivery for the victim's session, signed by that bank
      return await learned(deliver(env, { ...flow, bank: env.bankB }));
    default:
      return await learned(
        new Browser(env).open(
          waitingPath(flow),
          n % 2 === 0 ? {} : { headers: { cookie: `${name}=${own}` } },
        ),
      );
  }
}

/** An answer must be a rejection without a redirect, a cookie, or a word about the payment. */
async function learned(answering: Promise<Response>): Promise<string> {
  const answer = await answering;
  const text = await answer.text();
  const isRejected = answer.status === 400 && !answer.headers.has("location");
  const secret = /code=|af0ifjsldkj|GB\d\d|customer-1|165\.88/.exec(text)?.[0];
  return isRejected && secret === undefined
    ? ""
    : `${answer.status} ${answer.headers.get("location")} ${secret}`;
}

Deno.test("Deliveries and returns of one result at once: one code, and all have the same answer [ARS3] [BR15] [BR-N17]", async () => {
  await using env = await openEnvironment({ resultsOnBackChannel: true });
  for (let race = 0; race < RACES; race++) {
    const { flow, jws, back } = await victimOf(env);
    const paths = [back, waitingPath(flow)];
    const [delivered, again, returned] = await Promise.all([
      deliverJws(env, flow.bank, jws),
      deliverJws(env, flow.bank, jws),
      flow.browser.open(paths[race % 3 === 0 ? 1 : 0] ?? ""),
    ]);
    const answers = [await delivered.text(), await again.text()];
    assertEquals([delivered.status, again.status, answers[0]], [200, 200, answers[1]]);
    await returned.body?.cancel();
    const led = returned.status === 303 ? returned : await flow.browser.open(waitingPath(flow));
    await assertCodeAnswer(led);
    assertEquals([await codesIssued(env), await consentStatus(env, flow)], [race + 1, "Authorized"]);
  }
});

Deno.test("A success that is delivered and a failure that returns at once: one of them counts, wholly [ARS3] [BR15]", async () => {
  await using env = await openEnvironment({ resultsOnBackChannel: true });
  let issued = 0;
  for (let race = 0; race < RACES; race++) {
    const { flow, jws } = await victimOf(env);
    const failure = await sealedReturn(
      env,
      "BANKA",
      await signedReturn(env, flow, { claims: { status_code: "failure" } }),
    );
    const [delivered, returned] = await Promise.all([
      deliverJws(env, flow.bank, jws),
      flow.browser.open(failure),
    ]);
    const isFirst = delivered.status === 200;
    await delivered.body?.cancel();
    issued += isFirst ? 1 : 0;
    const { searchParams } = new URL(returned.headers.get("location") ?? "");
    assertEquals([returned.status, searchParams.has("code")], [303, isFirst]);
    const found = [await codesIssued(env), await consentStatus(env, flow)];
    assertEquals(found, [issued, isFirst ? "Authorized" : "Rejected"]);
  }
});

async function good(answering: Promise<Response>): Promise<void> {
  const answer = await answering;
  assertEquals(answer.status, 200, await answer.text());
}
