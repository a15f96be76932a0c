/** Events are staged in the commit of their change: none is lost, and none is invented (contract EVT1). */
import { assert, assertEquals } from "@std/assert";
import type { Commit, Store } from "../../../src/base/store/store.ts";
import { authorise, authorised, toBank } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { clientToken, createConsent, good, pay } from "testing/flows.ts";
import { openTestStore } from "testing/test_store.ts";
import { accepts, answers, later, openPushEnvironment, paid } from "support/orders.ts";
import { anotherProcess, at } from "support/processes.ts";
import { newPostgresStore, test } from "support/postgres.ts";
import { refused } from "./refused.ts";

/** A status in a commit: `<resource> <position> <status>`. */
interface Watched {
  readonly store: Store;
  /** Statuses that histories got, and statuses that events got, in the order of the commits. */
  readonly changes: string[];
  readonly events: string[];
  /** Commits that have one without the other. */
  readonly torn: Commit[];
}

async function watched(inner?: Store): Promise<Watched> {
  const store = inner ?? await openTestStore();
  const seen: Omit<Watched, "store"> = { changes: [], events: [], torn: [] };
  const statuses = new Map<string, string>();
  return {
    ...seen,
    store: {
      ...store,
      async commit(commit) {
        const done = await store.commit(commit);
        if (!done) return false;
        const changes = commit.writes.flatMap((write) => changeIn(statuses, write));
        const events = commit.writes.flatMap((write) => write.kind === "set" ? eventIn(write) : []);
        seen.changes.push(...changes);
        seen.events.push(...events);
        if (changes.toSorted().join() !== events.toSorted().join()) seen.torn.push(commit);
        return true;
      },
    },
  };
}

interface Written {
  readonly event?: string;
  readonly status?: string;
  readonly failures?: number;
}
const written = (value: unknown): Written => typeof value === "object" && value !== null ? value : {};

/** A consent begins with `AwaitingAuthorisation`, which its TPP has asked for. Entries without a change tell nothing. */
function changeIn(statuses: Map<string, string>, write: Commit["writes"][number]): readonly string[] {
  const [name, subject = "", position] = write.key;
  if (name !== "audit" || write.kind !== "set") return [];
  const [, status = ""] = /^(?:consent|payment)\.([A-Z]\w+)$/.exec(written(write.value).event ?? "") ?? [];
  const before = statuses.get(subject);
  if (status === "") return [];
  statuses.set(subject, status);
  return status === "AwaitingAuthorisation" || status === before ? [] : [`${subject} ${position} ${status}`];
}

function eventIn(
  { key, value }: { readonly key: readonly string[]; readonly value: unknown },
): readonly string[] {
  const [name, , , position, resource] = key;
  const { failures, status } = written(value);
  return name === "event" && failures === undefined ? [`${resource} ${position} ${status}`] : [];
}

/** Every way in which a consent or a payment gets a status, but for operators and restores. */
async function journeys(env: Environment): Promise<void> {
  const { DomesticPaymentId: settled } = await paid(env);
  await good(putStatus(env, env.bankA, settled, "AcceptedSettlementCompleted"), 200);
  await good(putStatus(env, env.bankA, settled, "AcceptedSettlementCompleted"), 200);
  await good(putStatus(env, env.bankA, settled, "AcceptedCreditSettlementCompleted"), 200);
  const flow = await authorised(env, { bank: env.bankB });
  const { DomesticPaymentId: rejected } = (await good(pay(env, flow), 201)).Data;
  await good(putStatus(env, env.bankB, rejected, "Rejected"), 200);
  await refused(env);
  await createConsent(env, await clientToken(env, env.tpp));
  await authorise(env, await toBank(env));
  env.now += 86_400_000;
  await env.platform.sweepConsents();
}

const EXPECTED = [
  "AcceptedCreditSettlementCompleted",
  "AcceptedSettlementCompleted",
  "AcceptedSettlementInProcess",
  "AcceptedSettlementInProcess",
  "Authorized",
  "Authorized",
  "Authorized",
  "Consumed",
  "Consumed",
  "Rejected",
  "Rejected",
  "Rejected",
  "Rejected",
];

Deno.test("each commit has the events of its changes of status, and no others [EVT1, T1]", async () => {
  const seen = await watched();
  await using env = await openEnvironment({ store: seen.store });
  await journeys(env);
  assertEquals(seen.torn, []);
  assertEquals(seen.events, seen.changes);
  assertEquals(seen.events.map((event) => event.split(" ")[2]).toSorted(), EXPECTED);
});

test("each commit has the events of its changes of status on PostgreSQL, through two processes in turn [EVT1, M1]", async () => {
  const seen = await watched(await newPostgresStore());
  await using env = await openEnvironment({ store: seen.store });
  const other = await anotherProcess(env, () => -2000); // its clock is behind
  let sent = 0;
  const both: Environment = Object.assign(Object.create(env), {
    api: (...given: Parameters<Environment["api"]>) =>
      (sent++ % 2 === 0 ? env : at(env, other)).api(...given),
  });
  await journeys(both);
  assertEquals([seen.torn, seen.events], [[], seen.changes]);
  assert(sent > 20);
  for (const [resource, positions] of byResource(seen.events)) {
    assertEquals(positions, positions.toSorted(), resource); // in spite of the clocks
  }
  await other.stop();
});

function byResource(events: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [resource = "", position = ""] of events.map((event) => event.split(" "))) {
    found.set(resource, [...found.get(resource) ?? [], position]);
  }
  return found;
}

Deno.test("a pushed order has an event of the first status and of the bank's answer; a retry has none [EVT1, D4]", async () => {
  const seen = await watched();
  await using env = await openPushEnvironment(() => new Response(null, { status: 503 }), {
    store: seen.store,
  });
  const { DomesticPaymentId: id } = await paid(env);
  const own = (): readonly string[] =>
    seen.events.filter((event) => event.startsWith(id)).map((event) => event.split(" ")[2] ?? "");
  await later(env, 1000);
  assertEquals(own(), ["Pending"]);
  env.answer = answers("Rejected");
  for (let pass = 0; pass < 10; pass++) await later(env, 60_000);
  assertEquals(own(), ["Pending", "Rejected"]);
  env.answer = accepts;
  await paid(env);
  assertEquals([seen.torn, seen.events], [[], seen.changes]);
});

Deno.test("a payment that its operator closes and its bank then rejects has an event of each word [EVT1, O3]", async () => {
  await using env = await openPushEnvironment(() => new Response(null, { status: 400 }));
  const { DomesticPaymentId: id } = await paid(env);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  const body = JSON.stringify({
    Data: { Reason: "The bank's desk says so.", StatusReason: "The bank did not take it." },
  });
  const headers = { "content-type": "application/json" };
  await good(
    env.asOperator(`/operations/payment-orders/${id}/close`, { method: "POST", headers, body }),
    200,
  );
  await good(putStatus(env, env.bankA, id, "Rejected"), 200);
  const events = await env.store.list<{ readonly status: string }>({
    prefix: ["event", env.tpp.clientId, "BANKA"],
    limit: 99,
  });
  const own = events.filter(({ key }) => key.at(-1) === id);
  assertEquals(own.map(({ value }) => value.status), ["Pending", "Rejected", "Rejected"]);
});

Deno.test("of two payments that race for one consent, the events are those of one [EVT1, C7]", async () => {
  const seen = await watched();
  await using env = await openEnvironment({ store: seen.store });
  const flow = await authorised(env);
  await Promise.all([pay(env, flow), pay(env, flow), pay(env, flow)]);
  const statuses = seen.events.map((event) => event.split(" ")[2]);
  assertEquals(statuses, ["Authorized", "Consumed", "AcceptedSettlementInProcess"]);
  assertEquals(seen.torn, []);
});
