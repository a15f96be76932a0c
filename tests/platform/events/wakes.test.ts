/** Which waiting polls a commit wakes in its own process (contract EVT8): those of the owner of the event, and no others. */
import { assertEquals } from "@std/assert";
import { type BankCode, type ClientId, newConsentId } from "../../../src/base/kernel/identifiers.ts";
import { transact } from "../../../src/base/store/transaction.ts";
import type { Notice, StatusChange } from "../../../src/platform/events/event.ts";
import {
  bankAsOwner,
  type EventOwner,
  type EventStore,
  openEventStore,
} from "../../../src/platform/events/event_store.ts";
import { openTestStore } from "testing/test_store.ts";

const bankOf = (code: string): BankCode => code as BankCode;
const clientOf = (id: string): ClientId => id as ClientId;
const [A, B] = [bankOf("BANKA"), bankOf("BANKB")];
const [ONE, OTHER] = [clientOf("SC-one"), clientOf("SC-other")];
const at = 1_000 as StatusChange["at"];

const OWNERS: Readonly<Record<string, EventOwner>> = {
  "one at A": { clientId: ONE, bank: A },
  "one at B": { clientId: ONE, bank: B },
  "other at A": { clientId: OTHER, bank: A },
  "bank A": bankAsOwner({ code: A }),
  "bank B": bankAsOwner({ code: B }),
};

const id = newConsentId();
const change: StatusChange = {
  type: "consent-rejected",
  resource: id,
  consentId: id,
  clientId: ONE,
  bank: A,
  status: "Rejected",
  at,
  position: 1_000,
};
const place = { position: 1_000, resource: "o-1" };
const notice: Notice = {
  type: "outage-announced",
  status: "Planned",
  at,
  about: "planned-outage",
  link: "https://platform.example/outages",
  details: {},
};

/** Returns the owners whose polls the commit of `stage` wakes. */
async function woken(
  stage: (events: EventStore, tx: Parameters<EventStore["stage"]>[0]) => void,
): Promise<readonly string[]> {
  const store = await openTestStore();
  const clock = (): typeof at => at;
  const events = openEventStore({ store, clock, keepMs: 60_000, baseUrl: "https://platform.example" });
  const names: string[] = [];
  for (const [name, owner] of Object.entries(OWNERS)) events.onStaged(owner, () => void names.push(name));
  await transact({ store, clock }, { what: "event" }, (tx) => {
    stage(events, tx);
    assertEquals(names, [], "only a commit wakes");
    return Promise.resolve();
  });
  await store.close();
  return names.toSorted();
}

Deno.test("an event wakes the polls of its TPP at its bank, and the bank's own if it gets a notice [EVT8, EVT19]", async () => {
  assertEquals(await woken((events, tx) => events.stage(tx, change)), ["one at A"]);
  const forBank: StatusChange = { ...change, forBank: "consent-rejected" };
  assertEquals(await woken((events, tx) => events.stage(tx, forBank)), ["bank A", "one at A"]);
});

Deno.test("a notice wakes the polls of its TPP: at its bank, or at every bank if it is of none [EVT8, EVT17]", async () => {
  const atBank = { clientId: ONE, bank: B };
  assertEquals(await woken((events, tx) => events.stageNotice(tx, atBank, place, notice)), ["one at B"]);
  const atAll = { clientId: ONE };
  assertEquals(await woken((events, tx) => events.stageNotice(tx, atAll, place, notice)), [
    "one at A",
    "one at B",
  ]);
});
