import { assertEquals, assertStringIncludes } from "@std/assert";
import { anotherFlow, decide, deciding, goodReturn } from "support/at_bank.ts";
import { test } from "support/environment_test.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { authorize, Browser, redeem, toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  nextUrlOf,
  reportAccounts,
} from "testing/front_channel.ts";
import { openEnvironment } from "testing/environment.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Commit, Store } from "../../../../src/base/store/store.ts";

const MANY = 40;

test("40 parallel identical bank returns: exactly one code, and all lead to it [BR-N17] [BR15] [BR-N10] [G1]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const answers = await Promise.all(times(MANY, () => flow.browser.open(path)));
  const code = await assertCodeAnswer(await onePlace(answers));
  assertEquals([await codesIssued(env), await consentStatus(env, flow)], [1, "Authorized"]);
  assertEquals((await redeem(env, { consentId: flow.consentId, code })).status, 200);
});

test("40 parallel returns with a jti of their own: exactly one code, and all lead to it [BR-N17] [BR15] [G1]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const paths = await Promise.all(times(MANY, () => goodReturn(env, flow)));
  const answers = await Promise.all(paths.map((path) => flow.browser.open(path)));
  await assertCodeAnswer(await onePlace(answers));
  assertEquals(await codesIssued(env), 1);
});

test("40 parallel returns to the platform's screen: it opens once, and all lead to it [BR-N17] [CT7] [G1]", async ({ env }) => {
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const path = await goodReturn(env, flow);
  const answers = await Promise.all(times(MANY, () => flow.browser.open(path)));
  assertEquals((await onePlace(answers)).status, 303);
  const opened = (await env.snapshot()).filter(({ key, value }) =>
    key[0] === "audit" && (value as { event: string }).event === "consent.customer_authenticated"
  );
  assertEquals([opened.length, await codesIssued(env), await consentStatus(env, flow)], [
    1,
    0,
    "AwaitingAuthorisation",
  ]);
});

test("Success and failure of one flow at once: one of them counts, wholly [BR15] [CT5] [CT8]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const paths = await Promise.all(
    times(MANY, (n) => goodReturn(env, flow, { status_code: n % 2 === 0 ? "success" : "failure" })),
  );
  const answers = await Promise.all(paths.map((path) => flow.browser.open(path)));
  const succeeded = (await onePlace(answers)).headers.get("location")?.includes("?code=") === true;
  assertEquals([await consentStatus(env, flow), await codesIssued(env)], [
    succeeded ? "Authorized" : "Rejected",
    succeeded ? 1 : 0,
  ]);
});

test("20 browsers with a flow each for one consent return at once: one code, everyone else is told [AZ-N15] [AZ-N18] [CT16]", async ({ env }) => {
  const first = await toBank(env, { body: IMPLICIT });
  const flows = [first, ...await Promise.all(times(19, (n) => anotherFlow(env, first, n)))];
  const paths = await Promise.all(flows.map((flow) => goodReturn(env, flow)));
  const answers = await Promise.all(flows.map(({ browser }, index) => browser.open(paths[index] ?? "")));
  const winners = answers.filter((answer) => /[?&]code=/.test(answer.headers.get("location") ?? ""));
  assertEquals([winners.length, await codesIssued(env)], [1, 1]);
  for (const answer of answers.filter((each) => !winners.includes(each))) {
    await assertErrorAnswer(answer, "invalid_request");
  }
  assertEquals(await consentStatus(env, first), "Authorized");
});

Deno.test("A link whose request is completed while it is opened starts no session [AZ-N6] [G1]", async () => {
  const store = await openTestStore();
  let first: (() => Promise<void>) | undefined;
  const commit: Store["commit"] = async (staged) => {
    const opens = staged.writes.some(({ key }) => key[0] === "authorization_session");
    const act = opens ? first : undefined;
    if (act !== undefined) first = undefined;
    await act?.();
    return await store.commit(staged);
  };
  await using env = await openEnvironment({ store: { ...store, commit } });
  const flow = await toBank(env, { body: IMPLICIT });
  first = async () => {
    await assertCodeAnswer(await flow.browser.open(await goodReturn(env, flow)));
  };
  const answer = await authorize(new Browser(env), env.tpp, flow.requestUri);
  await assertErrorAnswer(answer, "invalid_request");
});

test("Double click on accept: 40 parallel decisions give one code and lead to one place [AZ15] [CT7]", async ({ env }) => {
  const { flow, screen, csrf } = await deciding(env);
  const answers = await Promise.all(times(MANY, () => decide(flow.browser, screen, csrf, "accept")));
  const [first] = answers;
  if (first === undefined) throw new Error("no answer");
  for (const answer of answers) {
    assertEquals([answer.status, answer.headers.get("location")], [303, first.headers.get("location")]);
  }
  const code = await assertCodeAnswer(first);
  assertEquals([await codesIssued(env), await consentStatus(env, flow)], [1, "Authorized"]);
  assertEquals((await redeem(env, { consentId: flow.consentId, code })).status, 200);
});

Deno.test("A second click on the same decision leads where the first one led, for a minute; a different one is told what was decided [CT7] [BR-N11] [G1]", async (t) => {
  for (
    const [first, second, page] of [["accept", "refuse", "accepted"], [
      "refuse",
      "accept",
      "refused",
    ]] as const
  ) {
    await t.step(`${first}, then ${second}`, async () => {
      await using env = await openEnvironment();
      const { flow, screen, csrf } = await deciding(env);
      const cookie = new Map(flow.browser.cookies);
      const led = (await decide(flow.browser, screen, csrf, first)).headers.get("location");
      assertEquals(flow.browser.cookies.size, 0);
      const before = await env.snapshot();
      const again = await decide(flow.browser, screen, csrf, first);
      assertEquals([again.status, again.headers.get("location")], [303, led]);
      cookie.forEach((secret, name) => flow.browser.cookies.set(name, secret));
      const told = await decide(flow.browser, screen, csrf, second);
      assertEquals(flow.browser.cookies.size, 0, "the cookie is taken back");
      assertEquals(nextUrlOf(await assertPage(told, 400, page)), led);
      await assertPage(await decide(flow.browser, screen, "x".repeat(43), first), 400, "finished");
      await assertPage(await flow.browser.open(screen), 400, "finished");
      env.now += 60_000;
      for (const decision of [first, second]) {
        const late = await assertPage(await decide(flow.browser, screen, csrf, decision), 400, page);
        assertEquals(nextUrlOf(late), "https://www.example.com/");
      }
      // A browser that dropped the answer has its cookie still: the TPP must not wait for ever.
      cookie.forEach((secret, name) => flow.browser.cookies.set(name, secret));
      await assertErrorAnswer(await flow.browser.open(screen), "invalid_request");
      assertEquals(await env.snapshot(), before);
    });
  }
});

test("Accept and reject at once: one of them counts, wholly, and every click leads there or is told [AZ15] [CT7] [CT9]", async ({ env }) => {
  const { flow, screen, csrf } = await deciding(env);
  const decisions = times(MANY, (n) => n % 2 === 0 ? "refuse" : "accept");
  const answers = await Promise.all(
    decisions.map((decision) => decide(flow.browser, screen, csrf, decision)),
  );
  const accepted = await codesIssued(env) === 1;
  assertEquals(await consentStatus(env, flow), accepted ? "Authorized" : "Rejected");
  const same = answers.filter((_, n) => (decisions[n] === "accept") === accepted);
  const led = (await onePlace(same)).headers.get("location");
  assertEquals(led?.includes("?code="), accepted);
  for (const answer of answers.filter((each) => !same.includes(each))) {
    assertEquals(nextUrlOf(await assertPage(answer, 400, accepted ? "accepted" : "refused")), led);
  }
});

Deno.test("Consent, code, request, session and jti move in one commit, or none does [AZ15] [BR15]", async () => {
  const { store, commits, faults } = await recordingStore();
  await using env = await openEnvironment({ store });
  const flow = await toBank(env, { body: IMPLICIT });
  const before = await env.snapshot();
  faults.next = (commit) => commit.writes.some(({ key }) => key[0] === "authorization_code");
  const failed = await flow.browser.open(await goodReturn(env, flow));
  await assertPage(failed, 500, "unavailable");
  assertEquals(await env.snapshot(), before);
  commits.length = 0;
  await assertCodeAnswer(await flow.browser.open(await goodReturn(env, flow)));
  const [only, ...more] = commits;
  assertEquals(more, []);
  assertEquals(only?.writes.map(({ key }) => key[0]).toSorted(), [
    "audit",
    "authorization_code",
    "authorization_session",
    "consent",
    "consent_deadline",
    "consent_deadline",
    "event",
    "evidence_document",
    "log_waiting",
    "pushed_request",
    "spent_jwt",
    "spent_jwt",
  ]);
});

Deno.test("A store that fails after a commit is a failure in the log and on the page, never the page of a decided payment; the same link then leads on [BR15] [G1]", async (t) => {
  for (const status_code of ["success", "failure"]) {
    await t.step(`the bank's ${status_code}`, async () => {
      const { store, faults } = await recordingStore();
      await using env = await openEnvironment({ store });
      const flow = await toBank(env, { body: IMPLICIT });
      const path = await goodReturn(env, flow, { status_code });
      faults.afterNext = (commit) => commit.writes.some(({ key }) => key[0] === "authorization_session");
      await assertPage(await flow.browser.open(path), 500, "unavailable");
      assertStringIncludes(env.logged.join("\n"), '"event":"request.failed"');
      const again = await flow.browser.open(path);
      if (status_code === "success") await assertCodeAnswer(again);
      else await assertErrorAnswer(again, "access_denied");
    });
  }
});

/** The one place that all of them lead to; gives an answer that does. */
async function onePlace(answers: readonly Response[]): Promise<Response> {
  const places = new Set(answers.map(({ status, headers }) => `${status} ${headers.get("location")}`));
  assertEquals(places.size, 1, [...places].join(" "));
  const [first, ...more] = answers;
  await drain(more);
  if (first === undefined) throw new Error("no answers");
  return first;
}

/** Which commit fails: without effect, or after it. */
interface Faults {
  next?: (commit: Commit) => boolean;
  afterNext?: (commit: Commit) => boolean;
}

/** A store that tells what was committed and can fail a commit. */
async function recordingStore(): Promise<
  { store: Store; commits: Commit[]; faults: Faults }
> {
  const kv = await openTestStore();
  const commits: Commit[] = [];
  const faults: Faults = {};
  const store: Store = {
    ...kv,
    async commit(commit) {
      if (faults.next?.(commit) === true) {
        delete faults.next;
        throw new Error("the database went away");
      }
      commits.push(commit);
      const done = await kv.commit(commit);
      if (faults.afterNext?.(commit) !== true) return done;
      delete faults.afterNext;
      throw new Error("the answer of the database was lost");
    },
  };
  return { store, commits, faults };
}

function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

async function drain(answers: readonly Response[]): Promise<void> {
  await Promise.all(answers.map((answer) => answer.body?.cancel()));
}
