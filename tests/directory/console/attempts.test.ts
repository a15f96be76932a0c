/** What people attempt at the directory is in its history, whose entries are chained by their hashes. */
import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { openLog } from "../../../src/base/observability/log.ts";
import { StoreFailure } from "../../../src/base/store/store.ts";
import { ADMIN_TOKEN, thirdParty } from "testing/directory_environment.ts";
import type { DirectoryEnvironment } from "testing/directory_environment.ts";
import type { DirectoryHistory } from "testing/directory_answers.ts";
import { asLuis, LUIS_TOKEN, made, openTwo, proposed } from "../changes/two_administrators.ts";
import { onboarded } from "../changes/onboarded.ts";
import { browserOf, issue, signedIn, signIn } from "./visited.ts";

const PEOPLE = "/people/history";
const SUSPEND = { status: "Suspended", reason: "It does not answer." };

async function attempts(env: DirectoryEnvironment): Promise<DirectoryHistory> {
  const { status, body } = await env.admin("GET", PEOPLE);
  assertEquals(status, 200);
  return body;
}

const inShort = ({ history }: DirectoryHistory): readonly unknown[] =>
  history.map((
    { what, who, reason, proposal_id },
  ) => [what, who, reason, ...(proposal_id === undefined ? [] : [proposal_id])]);

/** As docs/operations/directory.md describes it: RFC 8785, without the hash itself. */
function sha256Of({ sha256: _own, ...line }: DirectoryHistory["history"][number]): string {
  const sorted = (_name: string, value: unknown): unknown =>
    value === null || typeof value !== "object" || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(line, sorted)).digest("base64url");
}

Deno.test("sign-ins and forbidden pages of administrators and participants' people are entries of the history [DRC14]", async () => {
  await using env = await onboarded();
  const { token } = await issue(env);
  const ana = await signedIn(env);
  const luis = await signIn(env, token);
  assertEquals((await ana.get("/console/own")).status, 403);
  assertEquals((await luis.get("/console/participants/SHOP")).status, 403);
  const wrong = await browserOf(env).submit("/console/sign-in", { token: `${token}x` });
  assertEquals(wrong.status, 403, "who is not known has no entry");
  assertEquals(inShort(await attempts(env)), [
    ["person.signed_in", "ana", "at the console"],
    ["person.signed_in", "SHOP/luis", "at the console"],
    ["person.forbidden", "ana", "GET /console/own"],
    ["person.forbidden", "SHOP/luis", "GET /console/participants/SHOP"],
  ]);
  const { html } = await ana.get("/console/people");
  for (const words of ["Signed in", "Forbidden page", "SHOP/luis", "GET /console/own"]) {
    assertStringIncludes(html, words);
  }
  assertEquals((await luis.get("/console/people")).status, 403);
});

Deno.test("approvals that are refused are entries: one's own, of what was decided, and of what has changed [DRC14]", async () => {
  await using env = await openTwo();
  await made(env, "POST", "/participants", await thirdParty([0, 1]));
  const [statement, status] = [
    await proposed(env, "POST", "/participants/SHOP/statement", { version: "9" }),
    await proposed(env, "PUT", "/participants/SHOP/status", SUSPEND),
  ];
  const reason = { reason: "I agree." };
  assertEquals((await env.admin("POST", `/proposals/${status}/approve`, reason)).status, 409);
  assertEquals((await asLuis(env, "POST", `/proposals/${statement}/approve`, reason)).status, 200);
  assertEquals((await asLuis(env, "POST", `/proposals/${statement}/approve`, reason)).status, 409);
  assertEquals((await asLuis(env, "POST", `/proposals/${status}/approve`, reason)).status, 409);
  assertEquals((await asLuis(env, "POST", `/proposals/${"f".repeat(28)}/approve`, reason)).status, 404);
  const browser = await signIn(env, LUIS_TOKEN);
  await browser.submit(`/console/proposals/${statement}/approve`, reason);
  const own = "You have proposed it yourself: another person must approve it.";
  const stale = "The participant has changed since the proposal. Reject it, and propose the change again.";
  assertEquals(inShort(await attempts(env)), [
    ["proposal.refused", "ana", own, status],
    ["proposal.refused", "luis", "It is approved.", statement],
    ["proposal.refused", "luis", stale, status],
    ["person.signed_in", "luis", "at the console"],
    ["proposal.refused", "luis", "It is approved.", statement],
  ]);
});

Deno.test("without its entry no sign-in and no refusal is answered, and a flood of attempts is slowed down [DRC14]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const { commit } = env.store;
  env.store.commit = () => Promise.reject(new StoreFailure("the disk is full"));
  const visitor = browserOf(env);
  assertEquals((await visitor.submit("/console/sign-in", { token: ADMIN_TOKEN })).status, 503);
  assertEquals((await visitor.get("/console")).status, 303, "no session");
  assertEquals((await browser.get("/console/own")).status, 503);
  env.store.commit = commit;
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 301; attempt++) statuses.push((await browser.get("/console/own")).status);
  assertEquals([statuses[0], statuses.at(-1)], [403, 429]);
  const { history, after } = await attempts(env);
  const rest = (await env.admin("GET", `${PEOPLE}?after=${after}`)).body as DirectoryHistory;
  const kept = [...history, ...rest.history];
  assertEquals(kept.length, 1 + statuses.filter((status) => status === 403).length);
  assertEquals(kept.map(({ sequence }) => sequence), kept.map((_, index) => index));
  env.now += 10_000;
  assertEquals((await browser.get("/console/own")).status, 403);
  assertEquals((await browser.get("/console/own")).status, 429);
  assertEquals((await browser.get("/console")).status, 200, "what the person may open goes on");
});

Deno.test("each entry of a history has the hash of the one before, and the log has the newest [DRC15]", async () => {
  const lines: string[] = [];
  const log = openLog({ clock: () => 0, sink: (line) => lines.push(line), level: "info" });
  await using env = await onboarded({ log });
  env.now += 1000;
  await env.admin("POST", "/participants/SHOP/statement");
  await signedIn(env);
  await (await signedIn(env)).get("/console/own");
  for (const [path, subject] of [["/participants/SHOP/history", "SHOP"], [PEOPLE, "people"]] as const) {
    const { history, is_intact } = (await env.admin("GET", path)).body as DirectoryHistory;
    assert(is_intact && history.length > 1);
    history.forEach((line, index) => {
      assertEquals(line.sha256, sha256Of(line));
      assertEquals(line.previous_sha256, history[index - 1]?.sha256);
      const witness = { subject, sequence: line.sequence, sha256: line.sha256 };
      assert(lines.some((text) => isWitness(text, witness)), `${path} ${index}: ${lines.join("\n")}`);
    });
  }
});

function isWitness(text: string, expected: Readonly<Record<string, unknown>>): boolean {
  const line = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return line["event"] === "directory.history" &&
    Object.entries(expected).every(([name, value]) => line[name] === value);
}

Deno.test("an entry that was changed, removed or put between others, and a cut history, are shown as such [DRC15]", async (t) => {
  type Stored = { sequence: number; previousSha256?: string; reason?: string; who: string };
  const faults: Readonly<Record<string, (env: DirectoryEnvironment) => Promise<void>>> = {
    "changed person": (env) => change(env, 1, (entry) => ({ ...entry, who: "luis" })),
    "changed first entry": (env) => change(env, 0, (entry) => ({ ...entry, who: "luis" })),
    "changed newest entry": (env) => change(env, 3, (entry) => ({ ...entry, who: "luis" })),
    "removed reason": (env) => change(env, 2, ({ reason: _removed, ...entry }) => entry),
    "removed entry": (env) => change(env, 1, () => undefined),
    "removed first entry": (env) => change(env, 0, () => undefined),
    "removed newest entry": (env) => change(env, 3, () => undefined),
    "other number": (env) => change(env, 2, (entry) => ({ ...entry, sequence: 1 })),
  };
  const key = (
    n: number,
  ): readonly string[] => ["directory", "history", "@people", String(n).padStart(10, "0")];
  const change = async (
    env: DirectoryEnvironment,
    n: number,
    edit: (entry: Stored) => Stored | undefined,
  ): Promise<void> => {
    const found = await env.store.get<Stored>(key(n));
    const value = edit(found?.value ?? { sequence: n, who: "" });
    assertNotEquals(value, found?.value);
    const write = value === undefined
      ? { kind: "delete" as const, key: key(n) }
      : { kind: "set" as const, key: key(n), value };
    await env.store.commit({ checks: [], writes: [write] });
  };
  for (const [name, plant] of Object.entries(faults)) {
    await t.step(name, async () => {
      await using env = await onboarded();
      const browser = await signedIn(env);
      for (let count = 0; count < 3; count++) await browser.get("/console/own");
      assertEquals((await attempts(env)).is_intact, true);
      await plant(env);
      assertEquals((await attempts(env)).is_intact, false);
      assertStringIncludes((await browser.get("/console/people")).html, "The history was altered");
    });
  }
});

Deno.test("a page of a history is compared with the entries before and behind it [DRC15]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  for (let count = 0; count < 250; count++) await browser.get("/console/own");
  const at = ["directory", "history", "@people", "0000000199"];
  const first = (await env.admin("GET", PEOPLE)).body as DirectoryHistory;
  assertEquals([first.is_intact, first.after], [true, "199"]);
  const found = await env.store.get<object>(at);
  const write = { kind: "set" as const, key: at, value: { ...found?.value, who: "luis" } };
  await env.store.commit({ checks: [], writes: [write] });
  const second = (await env.admin("GET", `${PEOPLE}?after=199`)).body as DirectoryHistory;
  assertEquals(second.is_intact, false);
  const changed = (await env.admin("GET", PEOPLE)).body as DirectoryHistory;
  assertEquals([changed.is_intact, changed.after, changed.history.length], [false, "199", 200]);
  const atEnd = (await env.admin("GET", `${PEOPLE}?after=250`)).body as DirectoryHistory;
  assertEquals([atEnd.is_intact, atEnd.history], [true, []]);
  const last = ["directory", "history", "@people", "0000000250"];
  const { value = {} } = await env.store.get<object>(last) ?? {};
  await env.store.commit({
    checks: [],
    writes: [{ kind: "set", key: last, value: { ...value, who: "luis" } }],
  });
  assertEquals(((await env.admin("GET", `${PEOPLE}?after=250`)).body as DirectoryHistory).is_intact, false);
});
