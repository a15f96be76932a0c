/** Every mistake of a developer can be mended from its answer or its trace alone. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { accepts, openPushEnvironment } from "support/orders.ts";
import { EVENT_POLLS, EVENT_SUBSCRIPTIONS, LISTS, OWN_REGISTRATION } from "./after_payment.ts";
import { statementsOf } from "./answer.ts";
import { CODES, LINKS, PUSHED_REQUESTS } from "./authorization.ts";
import { ACCOUNTS, BANK_ACCESS, CONSENT_READS } from "./back_channel.ts";
import { BODIES } from "./bodies.ts";
import { CLIENT_ASSERTIONS } from "./client_assertions.ts";
import { type Area, type Mistake, mistake } from "./mistake.ts";
import { ORDER_ANSWERS, ORDER_LISTS, STATUS_REPORTS } from "./payment_orders.ts";
import { REGISTRATIONS } from "./registrations.ts";
import { RESULTS } from "./results.ts";
import { HEADERS, SIGNATURES } from "./signatures.ts";
import { PROOFS, TOKENS } from "./tokens_and_proofs.ts";
import { type Workbench, workbenchOf } from "./workbench.ts";

const AREAS: readonly Area[] = [
  CLIENT_ASSERTIONS,
  PROOFS,
  TOKENS,
  SIGNATURES,
  HEADERS,
  BODIES,
  PUSHED_REQUESTS,
  CODES,
  LINKS,
  EVENT_POLLS,
  EVENT_SUBSCRIPTIONS,
  LISTS,
  REGISTRATIONS,
  OWN_REGISTRATION,
  BANK_ACCESS,
  CONSENT_READS,
  ACCOUNTS,
  RESULTS,
  ORDER_ANSWERS,
  ORDER_LISTS,
  STATUS_REPORTS,
];

/**
 * Makes the mistake, and returns what its answer or trace says if no statement names both the part and the expected value.
 *
 * @throws {Error} if the mistake is accepted, because it then proves nothing
 */
async function missOf(bench: Workbench, row: Mistake): Promise<readonly string[]> {
  const { name, part, expected, make, told } = row;
  const wanted = [part, typeof expected === "string" ? expected : await expected(bench)];
  const response = await make(bench);
  const said = told === undefined ? await statementsOf(response) : await told(bench, response);
  const isExplained = (response.status === 303 || told !== undefined) && said.length > 0;
  if (!isExplained && response.status < 400) {
    throw new Error(`${name}: the mistake was accepted with status ${response.status}`);
  }
  if (said.some((statement) => wanted.every((words) => statement.includes(words)))) return [];
  return [`${name}: expected ${wanted.join(" and ")}; got ${said.join(" | ") || "no words"}`];
}

Deno.test("answers to the mistakes of TPPs and banks name the faulty part and the expected value [G8] [EB6] [TRC5]", async (t) => {
  // A page explains a wrong link in a sandbox only.
  await using env = await openPushEnvironment(accepts, { environment: { PLATFORM_ENVIRONMENT: "Sandbox" } });
  const bench = workbenchOf(env);
  for (const { role, name, mistakes } of AREAS) {
    await t.step(`${role}: ${name}`, async () => {
      const misses: string[] = [];
      for (const row of mistakes) misses.push(...await missOf(bench, row));
      assertEquals(misses, []);
    });
  }
});

Deno.test("there are enough mistakes of TPPs and of banks [G8]", () => {
  for (const role of ["TPP", "bank"]) {
    const made = AREAS.flatMap((area) => area.role === role ? area.mistakes : []).length;
    assert(made >= 97, `${made} mistakes of a ${role}`);
  }
});

Deno.test("an answer with general words is a miss, and an accepted mistake proves nothing", async () => {
  await using env = await openPushEnvironment();
  const answering = (status: number): Mistake =>
    mistake(
      ["none", "Status", "Rejected"],
      () => Promise.resolve(Response.json({ error_description: "Status is wrong" }, { status })),
    );
  const bench = workbenchOf(env);
  assertEquals(await missOf(bench, answering(400)), [
    "none: expected Status and Rejected; got Status is wrong",
  ]);
  await assertRejects(() => missOf(bench, answering(200)), Error, "the mistake was accepted with status 200");
});
