/** Events that have expired and that the database has not deleted yet, before others that wait (contract EVT7). */
import { assertEquals } from "@std/assert";
import { type BankCode, type ClientId, newConsentId } from "../../../src/base/kernel/identifiers.ts";
import { openRequestReads } from "../../../src/base/store/request_reads.ts";
import { transact } from "../../../src/base/store/transaction.ts";
import { type EventStore, openEventStore } from "../../../src/platform/events/event_store.ts";
import { replayEvents } from "../../../src/platform/events/replay_events.ts";
import { openTestStore } from "testing/test_store.ts";

const DAY_MS = 86_400_000;
const KEPT_MS = 7 * DAY_MS;
const OWNER = { clientId: "SC-8b1c2a33-1111-4222-8333-444455556666" as ClientId, bank: "BANKA" as BankCode };

/** A store with events that have expired, and then so many that have not. */
async function openExpired(fresh: number, expired = 1) {
  const store = await openTestStore();
  const time = { now: Date.now() };
  const clock = (): number => time.now;
  const events = openEventStore({ store, clock, keepMs: KEPT_MS, baseUrl: "https://api.example" });
  const deps = { store, clock, events };
  await stage(deps, expired);
  time.now += 5000;
  await stage(deps, fresh);
  time.now += KEPT_MS - 4000;
  return { ...deps, [Symbol.asyncDispose]: () => store.close() };
}

async function stage(
  deps: Parameters<typeof transact>[0] & { readonly events: EventStore },
  count: number,
): Promise<void> {
  const at = deps.clock();
  for (let made = 0; made < count; made++) {
    const consentId = newConsentId();
    const place = { position: at * 1000 + made, resource: consentId };
    await transact(deps, { what: "event" }, (tx) => {
      deps.events.stage(tx, {
        ...OWNER,
        ...place,
        type: "consent-authorised",
        consentId,
        status: "Authorized",
        at,
      });
      return Promise.resolve();
    });
  }
}

Deno.test("an event that has expired hides none behind it from walks and polls [EVT7, EVT13]", async () => {
  await using expired = await openExpired(250);
  const { events } = expired;
  assertEquals((await events.waiting(OWNER, 1)).length, 1);
  const page = await events.waiting(OWNER, 200);
  assertEquals([page.length, (await events.waiting(OWNER, 200, page.at(-1))).length], [200, 50]);
  assertEquals((await events.due(OWNER, 300)).length, 250);
});

Deno.test("many events that have expired hide none behind them from polls [EVT7]", async () => {
  await using expired = await openExpired(20, 1200);
  assertEquals((await expired.events.due(OWNER, 50)).length, 20);
});

Deno.test("a replay is not complete if more events are kept behind one that has expired [EVT15]", async () => {
  await using expired = await openExpired(600);
  for (const { entry } of await expired.events.waiting(OWNER, 600)) {
    await transact(expired, { what: "event" }, (tx) => {
      expired.events.stageDone(tx, entry);
      return Promise.resolve();
    });
  }
  const { replayed, next } = await replayEvents(expired, {
    owner: OWNER,
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
    reads: openRequestReads(expired.store),
    replayRecords: { pending: [] },
    interactionId: crypto.randomUUID(),
  });
  assertEquals([replayed, next !== undefined], [500, true]);
});
