import { assertEquals } from "@std/assert";
import { IMPLICIT, sealedReturn, signedReturn } from "../support/bank_return.ts";
import {
  type AtBank,
  authorize,
  Browser,
  good,
  openHandover,
  push,
  redeem,
  toBank,
} from "../support/flows.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  readForm,
  reportAccounts,
  wayOnOf,
} from "../support/front_channel.ts";
import { openWorld, type World } from "../support/world.ts";
import { openDenoKv } from "../../src/store/deno_kv.ts";
import type { Commit, Store } from "../../src/store/store.ts";

const MANY = 40;

Deno.test("40 parallel identical bank returns: exactly one code [BR-N17] [BR15] [BR-N10]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  const path = await goodReturn(world, flow);
  const answers = await Promise.all(times(MANY, () => flow.browser.open(path)));
  const [winner, ...more] = answers.filter(({ status }) => status === 303);
  assertEquals([more.length, answers.length], [0, MANY]);
  if (winner === undefined) throw new Error("no return succeeded");
  const code = await assertCodeAnswer(winner);
  for (const answer of answers.filter((each) => each !== winner)) {
    await assertLoser(answer, "finished", winner.headers.get("location"));
  }
  assertEquals([await codesIssued(world), await consentStatus(world, flow)], [1, "Authorized"]);
  assertEquals((await redeem(world, { consentId: flow.consentId, code })).status, 200);
});

Deno.test("40 parallel returns with a jti of their own: exactly one code [BR-N17] [BR15]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  const paths = await Promise.all(times(MANY, () => goodReturn(world, flow)));
  const answers = await Promise.all(paths.map((path) => flow.browser.open(path)));
  assertEquals(answers.filter(({ status }) => status === 303).length, 1);
  assertEquals(await codesIssued(world), 1);
  await drain(answers);
});

Deno.test("40 parallel returns to the platform's screen: one opens it, and it opens once [BR-N17] [C7]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  await reportAccounts(world, flow);
  const path = await goodReturn(world, flow);
  const answers = await Promise.all(times(MANY, () => flow.browser.open(path)));
  const [screen, ...more] = answers.filter(({ status }) => status === 303);
  assertEquals(more, []);
  for (const answer of answers.filter((each) => each !== screen)) {
    await assertLoser(answer, "undecided", screen?.headers.get("location") ?? null);
  }
  assertEquals([await codesIssued(world), await consentStatus(world, flow)], [0, "AwaitingAuthorisation"]);
});

Deno.test("Success and failure of one flow at once: one of them counts, wholly [BR15] [C5] [C8]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  const paths = await Promise.all(
    times(MANY, (n) => goodReturn(world, flow, { status_code: n % 2 === 0 ? "success" : "failure" })),
  );
  const answers = await Promise.all(paths.map((path) => flow.browser.open(path)));
  const ended = answers.filter(({ status }) => status === 303);
  assertEquals(ended.length, 1);
  const succeeded = ended[0]?.headers.get("location")?.includes("?code=") === true;
  assertEquals([await consentStatus(world, flow), await codesIssued(world)], [
    succeeded ? "Authorized" : "Rejected",
    succeeded ? 1 : 0,
  ]);
  await drain(answers);
});

Deno.test("20 browsers with a flow each for one consent return at once: one code, everyone else is told [AZ-N15] [AZ-N18] [C16]", async () => {
  await using world = await openWorld();
  const first = await toBank(world, { body: IMPLICIT });
  const flows = [first, ...await Promise.all(times(19, (n) => anotherFlow(world, first, n)))];
  const paths = await Promise.all(flows.map((flow) => goodReturn(world, flow)));
  const answers = await Promise.all(flows.map(({ browser }, index) => browser.open(paths[index] ?? "")));
  const winners = answers.filter((answer) => answer.headers.get("location")?.includes("code=") === true);
  assertEquals([winners.length, await codesIssued(world)], [1, 1]);
  for (const answer of answers.filter((each) => !winners.includes(each))) {
    await assertErrorAnswer(answer, "invalid_request");
  }
  assertEquals(await consentStatus(world, first), "Authorized");
});

Deno.test("Double click on accept: 40 parallel decisions give one code and lead to one place [AZ15] [C7]", async () => {
  await using world = await openWorld();
  const { flow, screen, csrf } = await deciding(world);
  const answers = await Promise.all(times(MANY, () => decideOnce(flow.browser, screen, csrf, "accept")));
  const [first] = answers;
  if (first === undefined) throw new Error("no answer");
  for (const answer of answers) {
    assertEquals([answer.status, answer.headers.get("location")], [303, first.headers.get("location")]);
  }
  const code = await assertCodeAnswer(first);
  assertEquals([await codesIssued(world), await consentStatus(world, flow)], [1, "Authorized"]);
  assertEquals((await redeem(world, { consentId: flow.consentId, code })).status, 200);
});

Deno.test("A click after the decision leads where the first one led, for that browser and for a minute [C7] [BR-N11]", async () => {
  await using world = await openWorld();
  const { flow, screen, csrf } = await deciding(world);
  const first = await decideOnce(flow.browser, screen, csrf, "accept");
  const before = await world.snapshot();
  const again = await decideOnce(flow.browser, screen, csrf, "refuse");
  assertEquals([again.status, again.headers.get("location")], [303, first.headers.get("location")]);
  await assertPage(await decideOnce(new Browser(world), screen, csrf, "accept"), 400, "other_browser");
  await assertPage(await flow.browser.open(screen), 400, "finished");
  world.now += 60_000;
  await assertPage(await decideOnce(flow.browser, screen, csrf, "accept"), 400, "finished");
  assertEquals(await world.snapshot(), before);
});

Deno.test("Accept and refuse at once: one of them counts, wholly [AZ15] [C7] [C9]", async () => {
  await using world = await openWorld();
  const { flow, screen, csrf } = await deciding(world);
  const answers = await Promise.all(
    times(MANY, (n) => decideOnce(flow.browser, screen, csrf, n % 2 === 0 ? "refuse" : "accept")),
  );
  const places = new Set(answers.map(({ status, headers }) => `${status} ${headers.get("location")}`));
  assertEquals(places.size, 1);
  const accepted = [...places].join().includes("?code=");
  assertEquals([await consentStatus(world, flow), await codesIssued(world)], [
    accepted ? "Authorized" : "Rejected",
    accepted ? 1 : 0,
  ]);
  await drain(answers);
});

Deno.test("Consent, code, request, interaction and jti move in one commit, or none does [AZ15] [BR15]", async () => {
  const { store, commits, faults } = await recordingStore();
  await using world = await openWorld({ store });
  const flow = await toBank(world, { body: IMPLICIT });
  const before = await world.snapshot();
  faults.next = (commit) => commit.writes.some(({ key }) => key[0] === "authorization_code");
  const failed = await flow.browser.open(await goodReturn(world, flow));
  await assertPage(failed, 500, "unavailable");
  assertEquals(await world.snapshot(), before);
  commits.length = 0;
  await assertCodeAnswer(await flow.browser.open(await goodReturn(world, flow)));
  const [only, ...more] = commits;
  assertEquals(more, []);
  assertEquals(only?.writes.map(({ key }) => key[0]).toSorted(), [
    "audit",
    "authorization_code",
    "consent",
    "consent_deadline",
    "consent_deadline",
    "interaction",
    "pushed_request",
    "spent_challenge",
    "spent_jwt",
  ]);
});

/** A page, in the browser that may have dropped the winner's answer: it leads where that one led. */
async function assertLoser(
  answer: Response,
  page: "finished" | "undecided",
  winner: string | null,
): Promise<void> {
  assertEquals(wayOnOf(await assertPage(answer, 400, page)), winner);
}

/** A store that tells what was committed and can fail a commit. */
async function recordingStore(): Promise<
  { store: Store; commits: Commit[]; faults: { next?: (commit: Commit) => boolean } }
> {
  const kv = await openDenoKv(":memory:");
  const commits: Commit[] = [];
  const faults: { next?: (commit: Commit) => boolean } = {};
  const store: Store = {
    ...kv,
    async commit(commit) {
      if (faults.next?.(commit) === true) {
        delete faults.next;
        throw new Error("the database went away");
      }
      commits.push(commit);
      return await kv.commit(commit);
    },
  };
  return { store, commits, faults };
}

async function deciding(world: World): Promise<{ flow: AtBank; screen: string; csrf: string }> {
  const flow = await toBank(world);
  await reportAccounts(world, flow);
  const screen = (await flow.browser.open(await goodReturn(world, flow))).headers.get("location") ?? "";
  const { csrf } = readForm(await (await flow.browser.open(screen)).text());
  return { flow, screen, csrf };
}

function decideOnce(browser: Browser, screen: string, csrf: string, decision: string): Promise<Response> {
  const body = new URLSearchParams({ csrf, decision, account: "0" });
  return browser.open(screen, { method: "POST", body });
}

async function goodReturn(
  world: World,
  flow: AtBank,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return await sealedReturn(world, flow.bank.orgId, await signedReturn(world, flow, { claims }));
}

async function anotherFlow(world: World, flow: AtBank, n: number): Promise<AtBank> {
  const form = { code_challenge: `${n}`.padStart(42, "D") + "A" };
  const { request_uri } = await good(push(world, flow.consentId, { form }), 201);
  const browser = new Browser(world);
  const { claims } = await openHandover(world.bankA, await authorize(browser, world.tpp, request_uri));
  return { ...flow, browser, requestUri: request_uri, handover: claims };
}

function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

async function drain(answers: readonly Response[]): Promise<void> {
  await Promise.all(answers.map((answer) => answer.body?.cancel()));
}
