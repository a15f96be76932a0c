/** Histories for operators, and the record of who read them. */
import { assertEquals } from "@std/assert";
import { historyOf } from "../../../src/platform/evidence/audit_trail.ts";
import { bodyOf } from "testing/answers.ts";
import type { Entries } from "testing/operation_answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { clientToken, createConsent } from "testing/flows.ts";
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

Deno.test("an auditor exports every entry page by page, each once [OP11]", async () => {
  await using env = await openEnvironment();
  const writes = Array.from({ length: 450 }, (_, n) => ({
    kind: "set" as const,
    key: ["audit", `subject ${n % 7}`, String(n).padStart(15, "0"), crypto.randomUUID()],
    value: { at: env.now, event: "test.made", actor: "platform", reason: String(n) },
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
