/** Histories for operators, and the record of who read them. */
import { assert, assertEquals } from "@std/assert";
import { historyOf } from "../../../src/platform/evidence/audit_trail.ts";
import { bodyOf } from "testing/answers.ts";
import type { Entries } from "testing/operation_answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { clientToken, createConsent } from "testing/flows.ts";
import { consoleOf } from "testing/console_browser.ts";
import { openTwo, post, proposed } from "support/four_eyes.ts";
import type { TestOperator } from "testing/operators.ts";

async function read(env: Environment, path: string, as: TestOperator = "auditor"): Promise<Entries["Data"]> {
  const answer = await env.asOperator(`/operations/${path}`, {}, as);
  assertEquals(answer.status, 200);
  return (await bodyOf<Entries>(answer)).Data;
}

Deno.test("an operator reads the history of a resource, and the read is in the operator's own history [OP11]", async () => {
  await using env = await openEnvironment();
  const { ConsentId } = (await createConsent(env, await clientToken(env, env.tpp))).Data;
  const { Entry } = await read(env, `histories/${ConsentId}`, "support");
  assertEquals(Entry.map(({ Subject, Event, Actor, Sequence }) => [Subject, Event, Actor, Sequence]), [
    [ConsentId, "consent.AwaitingAuthorisation", env.tpp.clientId, 1],
  ]);
  const own = await historyOf(env.store, "operator support");
  assertEquals(own.map(({ event, actor, reason }) => [event, actor, reason]), [
    ["operator.read", "operator support", `/operations/histories/${ConsentId}`],
  ]);
  assertEquals((await read(env, "histories/operator%20support")).Entry.length, 1);
});

Deno.test("no entry is older than 1970, whatever days an auditor asks for [OP11]", async () => {
  await using env = await openEnvironment();
  const numberIn = async (days: string): Promise<number> =>
    (await read(env, `audit/people?deed=read&${days}`)).Entry.length;
  assertEquals(await numberIn("until=2040-01-15"), 1, "the read itself");
  assertEquals(await numberIn("until=1960-01-01"), 0);
  assertEquals(await numberIn("from=1960-01-01"), 3);
});

Deno.test("an auditor exports every entry page by page, each once [OP11]", async () => {
  await using env = await openEnvironment();
  const writes = Array.from({ length: 450 }, (_, n) => ({
    kind: "set" as const,
    key: ["audit", `subject ${n % 7}`, String(n).padStart(15, "0")],
    value: {
      at: env.now,
      event: "test.made",
      actor: "platform",
      reason: String(n),
      sequence: Math.floor(n / 7) + 1,
      salt: "c2FsdA",
      v: 1,
    },
  }));
  for (let from = 0; from < writes.length; from += 100) {
    await env.store.commit({ checks: [], writes: writes.slice(from, from + 100) });
  }
  const seen: Entries["Data"]["Entry"] = [];
  for (let after: string | undefined = "", pages = 0; after !== undefined && pages < 10; pages++) {
    const page = await read(env, after === "" ? "audit" : `audit?after=${after}`);
    seen.push(...page.Entry);
    after = page.After;
  }
  const made = seen.filter(({ Event }) => Event === "test.made");
  assertEquals([made.length, new Set(made.map(({ Reason }) => Reason)).size], [450, 450]);
  assertEquals((await env.asOperator("/operations/audit?after=x", {}, "auditor")).status, 400);
});

Deno.test("sign-ins, forbidden requests and pages, and refused approvals are entries of a history [OP21]", async () => {
  await using env = await openTwo();
  const entries = async (subject: string): Promise<readonly unknown[]> =>
    (await historyOf(env.store, subject)).map(({ event, actor, reason }) => [event, actor, reason]);
  const browser = consoleOf(env);
  assertEquals((await browser.signIn("viewer")).status, 303);
  assertEquals((await browser.get("/console/audit")).status, 403);
  const path = "/operations/organisations/BANKA/block";
  assertEquals((await env.asOperator(path, { method: "POST" }, "viewer")).status, 403);
  const viewer = "operator viewer";
  assertEquals(await entries(viewer), [
    ["operator.signed_in", viewer, "at the console"],
    ["operator.forbidden", viewer, "GET /console/audit"],
    ["operator.forbidden", viewer, `POST ${path}`],
  ]);
  const id = await proposed(env, "/organisations/BANKA/block");
  for (const as of ["security", "operator"] as const) {
    assert((await post(env, `/proposals/${id}/approve`, as)).status >= 403);
  }
  assertEquals((await entries(`proposal ${id}`)).slice(1), [
    [
      "proposal.refused",
      "operator security",
      "You have proposed it yourself: another person must approve it.",
    ],
    ["proposal.refused", "operator operator", "needs a role of POST /operations/organisations/{id}/block"],
  ]);
  const leaves = await bodyOf<{ Data: { Entry: readonly { Event: string }[] } }>(
    env.asOperator("/operations/audit", {}, "auditor"),
  );
  const events = new Set(leaves.Data.Entry.map(({ Event }) => Event));
  for (const event of ["operator.signed_in", "operator.forbidden", "proposal.refused"]) {
    assert(events.has(event), event);
  }
});

Deno.test("without its entry no sign-in and no refusal is answered, and a flood of attempts is slowed down [OP21]", async () => {
  await using env = await openEnvironment();
  const forbidden = async (): Promise<number> => {
    const answer = await env.asOperator("/operations/audit", {}, "viewer");
    await answer.body?.cancel();
    return answer.status;
  };
  const { commit } = env.store;
  env.store.commit = () => Promise.reject(new Error("the disk is full"));
  const browser = consoleOf(env);
  const page = await browser.signIn("viewer");
  assert(page.status >= 500, String(page.status));
  assertEquals((await browser.get("/console")).status, 303, "no session");
  assert(await forbidden() >= 500);
  env.store.commit = commit;
  const statuses = [];
  for (let attempt = 0; attempt < 300; attempt++) statuses.push(await forbidden());
  assertEquals([statuses[0], statuses.at(-1)], [403, 429]);
  const kept = (await historyOf(env.store, "operator viewer")).length;
  assertEquals(kept, statuses.filter((status) => status === 403).length);
  env.now += 10_000;
  assertEquals([await forbidden(), await forbidden()], [403, 429]);
  const allowed = await env.asOperator("/operations/requests", {}, "viewer");
  assertEquals(allowed.status, 200, "what the roles allow goes on");
  await allowed.body?.cancel();
});
