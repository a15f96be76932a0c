/**
 * The first payment in bash, Python, Go and Java: foreign libraries for signatures and HTTP meet the platform as it is
 * [E1, DC12]. Each example pays, keeps its idempotency key, and uses no answer that the platform has not signed.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import * as jose from "jose";
import { bodyOf, type EventPage, type Payment } from "testing/answers.ts";
import { goThroughAuthorization } from "../../src/sandbox/customer/customer.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import {
  changedBody,
  type Fault,
  type FaultyNetwork,
  lost,
  openFaultyNetwork,
  platformKey,
  sign,
  signedAnew,
  unsigned,
} from "support/faulty_network.ts";
import { onboardOutsiders } from "support/own_bank.ts";
import {
  canRun,
  type Ended,
  PAYMENT_EXAMPLES,
  type PaymentExample,
  prepare,
  type ReadyExample,
} from "support/payment_examples.ts";
import { partOf } from "support/part_of.ts";
import { startPooledEcosystem } from "support/pooled_ecosystem.ts";
import { steps } from "support/steps.ts";

const ID = "[0-9a-f-]{36}";
/** Every status on the way to a settled payment: on a busy computer the bank is at any of them when the example asks. */
const STATUS =
  "(?:Pending|AcceptedSettlementInProcess|AcceptedSettlementCompleted|AcceptedCreditSettlementCompleted)";
const PAID = RegExp(
  `^consent ${ID}: AwaitingAuthorisation\n(?:.*\n)*?payment (${ID}): ${STATUS}\nstatus now: ${STATUS}\n` +
    "event consent-authorised: Authorized\nevent consent-consumed: Consumed\n" +
    `event payment-status-changed: Pending\n(event payment-status-changed: ${STATUS}\n)*$`,
  "m",
);

/** An example, and the sandbox that it pays in. */
interface Tried extends ReadyExample {
  readonly net: FaultyNetwork;
  readonly dir: string;
  /** Of the participant. */
  readonly folder: string;
  readonly redirectUri: string;
}

for (const example of PAYMENT_EXAMPLES) {
  const name =
    `a TPP in ${example.language} pays, pays once if an answer is lost, and uses no forged answer [E1]`;
  Deno.test({ name, ignore: !canRun(example), fn: async (t) => await tryExample(t, example) });
}

async function tryExample(t: Deno.TestContext, example: PaymentExample): Promise<void> {
  const dir = `${await Deno.makeTempDir()}/sandbox`;
  await Deno.mkdir(dir);
  const folder = `${dir}/participants/mine`;
  const ready = await prepare(example, dir);
  await t.step("no arguments, no participant", () => missing(ready, folder));
  const net = openFaultyNetwork();
  const { front } = net;
  const ecosystem = await startPooledEcosystem({ port: freeSandboxPorts(), dir, log: () => {}, front });
  try {
    const { redirectUri } = await onboardOutsiders(dir);
    const tried = { ...ready, net, dir, folder, redirectUri };
    await t.step("pays through the customer's browser", () => paysByBrowser(tried));
    await t.step("pays once if the answer is lost", () => paysOnce(tried));
    await rejections(t, tried);
    await foreignReturns(t, tried);
    await t.step("the code has the text of another option", () => codeOfMore(tried));
    await forgedAnswers(t, tried);
    await t.step("the sandbox is gone", async () => {
      const endpoints = await Deno.readTextFile(`${dir}/endpoints.json`);
      await ecosystem.stop();
      await Deno.writeTextFile(`${dir}/endpoints.json`, endpoints); // as after a crash
      assertStops(await ready.run([folder]), /^No answer.*\nStart the sandbox/);
    });
  } finally {
    await ecosystem.stop();
    await Deno.remove(dir, { recursive: true });
  }
}

async function paysByBrowser({ runAsWritten, folder, redirectUri }: Tried): Promise<void> {
  const ended = await runAsWritten(
    [folder],
    ({ href }) => goThroughAuthorization({ startUrl: href, redirectUri }, () => {}),
  );
  assertMatch(paid(ended).stdout, /^register: 201 SC-/);
}

async function rejections(t: Deno.TestContext, { run, folder, net }: Tried): Promise<void> {
  await t.step("the customer rejects", async () => {
    const ended = await run([folder, "BANKB", "refuse"]);
    assertStops(
      ended,
      /^The customer came back without consent: access_denied, .*[^.]\. No payment was made\.\n/,
    );
  });
  await t.step("an unknown bank", async () => {
    const ended = await run([folder, "BANKX"]);
    assertStops(ended, /^No bank has the code BANKX\. In a sandbox there are BANKA and BANKB\.\n$/);
  });
  await t.step("the platform rejects a token request", async () => {
    net.arm("/token.oauth2/v1", () => Response.json({ error: "invalid_client" }, { status: 401 }));
    const ended = await run([folder, "BANKA", "approve"]);
    assertStops(ended, /^POST \S+\/token\.oauth2\/v1 was rejected: HTTP 401 .*invalid_client/);
  });
}

async function missing({ run }: ReadyExample, folder: string): Promise<void> {
  const usage = await run([]);
  assertMatch(usage.stderr, /^usage: \w+\.\w+ <participant folder> \[bank code, else BANKA\] \[outcome\]\n$/);
  assertEquals(usage.code, 2);
  assertStops(await run([folder]), /^.*participant\.json cannot be read.* Onboard with: /);
}

function paid(ended: Ended): Ended {
  assertEquals([ended.code, ended.stderr], [0, ""], ended.stdout);
  assertMatch(ended.stdout, PAID);
  return ended;
}

function assertStops(ended: Ended, sentence: RegExp): void {
  assertMatch(ended.stderr, sentence);
  assertEquals(ended.code, 1);
  assert(!/^payment /m.test(ended.stdout), ended.stdout);
}

async function paysOnce({ run, folder, net }: Tried): Promise<void> {
  let first = "";
  net.arm("/domestic-payments/v1", async (answer) => {
    first = (await bodyOf<Payment>(answer.clone())).Data.DomesticPaymentId;
    return await lost(answer);
  });
  const { stdout } = paid(await run([folder, "BANKA", "approve"]));
  assertMatch(stdout, /^register: 400 .* is registered already/);
  assertEquals(PAID.exec(stdout)?.[1], first);
  const sent = net.seen();
  const of = (name: string): unknown[] => sent.map(({ headers }) => headers.get(name));
  assertEquals(sent.length, 2);
  assertEquals(new Set(sent.map(({ body }) => body)).size, 1);
  assertEquals(new Set(of("x-idempotency-key")).size, 1);
  assertEquals(new Set(of("dpop")).size, 2);
}

/** The browser comes back with a code that another server, or another request, has got. */
async function foreignReturns(t: Deno.TestContext, { run, net, folder, redirectUri }: Tried): Promise<void> {
  await steps(t, {
    "another state": (_state: string, authUrl: string) => ["another", `${authUrl}/BANKA`],
    "another issuer": (state: string, authUrl: string) => [state, `${authUrl}/BANKB`],
  }, async (returned) => {
    net.arm("/par.oauth2/v1", (answer) => answer);
    const ended = await run([folder], (link) => {
      const sent = new URLSearchParams(net.seen()[0]?.body).get("state") ?? "";
      const [state = "", iss = ""] = returned(sent, link.origin);
      return new URL(`${redirectUri}?${new URLSearchParams({ code: "stolen", state, iss })}`);
    });
    assertStops(ended, /^This is not the answer to the request that was sent\. No payment was made\.\n$/);
  });
}

/** Who brings the address can change its code. In a file of curl's options it must stay one value. */
async function codeOfMore({ run, net, folder, dir, redirectUri }: Tried): Promise<void> {
  net.arm("/par.oauth2/v1", (answer) => answer);
  const written = `${dir}/written`;
  const ended = await run([folder], (link) => {
    const state = new URLSearchParams(net.seen()[0]?.body).get("state") ?? "";
    const code = `code"\noutput = "${written}`;
    return new URL(`${redirectUri}?${new URLSearchParams({ code, state, iss: `${link.origin}/BANKA` })}`);
  });
  assertStops(ended, /^POST \S+\/token\.oauth2\/v1 was rejected: HTTP 400 /);
  assert(!await Deno.stat(written).then(() => true, () => false));
}

/** A third of the cases if a payment takes long. */
function partFor<T>(
  { isSlow }: ReadyExample,
  cases: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  return isSlow ? Object.fromEntries(partOf(Object.entries(cases), 3)) : cases;
}

async function forgedAnswers(t: Deno.TestContext, tried: Tried): Promise<void> {
  const { run, net, folder, dir } = tried;
  const key = await platformKey(dir);
  const { privateKey } = await jose.generateKeyPair("PS256", { extractable: true });
  const other = { ...await jose.exportJWK(privateKey), kid: key.kid ?? "" };
  const unusable = /^The (signature of the )?platform's answer is .*\.\n$/;
  const forged: Readonly<Record<string, Fault>> = {
    "another body": changedBody((body) => body.replace("AwaitingAuthorisation", "Authorized")),
    "no signature": unsigned,
    "another key with the platform's kid": signedAnew(other, {}),
    "another algorithm": signedAnew(key, { alg: "RS256" }),
    "an unknown critical header": signedAnew(key, { crit: ["exp"], exp: 1 }),
    "b64 that is not critical": signedAnew(key, { b64: false }),
  };
  await steps(t, partFor(tried, forged), async (fault) => {
    net.arm("/domestic-payment-consents/v1", fault);
    const ended = await run([folder, "BANKA", "approve"]);
    assertStops(ended, unusable);
    assert(!/^consent /m.test(ended.stdout), ended.stdout);
  });
  const events = (jwk: jose.JWK, header: object, claims: object): Fault =>
    signedAnew(key, {}, async (body) => {
      const answer = JSON.parse(body) as EventPage;
      for (const [jti, set] of Object.entries(answer.sets)) {
        const all = JSON.stringify({ ...jose.decodeJwt(set), ...claims });
        answer.sets[jti] = await sign(jwk, { alg: "PS256", typ: "secevent+jwt", ...header }, all);
      }
      return JSON.stringify(answer);
    });
  await t.step("what the platform's own key has signed again is accepted", async () => {
    net.arm("/events/v1", events(key, {}, {}));
    paid(await run([folder, "BANKA", "approve"]));
  });
  const forgedEvents: Readonly<Record<string, [Fault, RegExp]>> = {
    "an event of another key": [events(other, {}, {}), unusable],
    "an event for another TPP": [events(key, {}, { aud: "SC-other" }), /^An event .* for another TPP\.\n$/],
    "a JWT that is no event": [events(key, { typ: "JWT" }, {}), /^An event has another typ.*\.\n$/],
  };
  await steps(t, partFor(tried, forgedEvents), async ([fault, sentence]) => {
    net.arm("/events/v1", fault);
    const ended = await run([folder, "BANKA", "approve"]);
    assertMatch(ended.stderr, sentence);
    assertEquals(ended.code, 1);
    assert(!/^event /m.test(ended.stdout), ended.stdout);
  });
}
