/** What a pass over the events that wait reads, and whom it finds [EVT12]. */
import { assert, assertEquals } from "@std/assert";
import type { BankCode, ClientId } from "../../../src/base/kernel/identifiers.ts";
import type { Store, Write } from "../../../src/base/store/store.ts";
import { openEventOwners } from "../../../src/platform/events/event_owner_store.ts";
import { isComplete } from "support/part_of.ts";
import { type ListedStore, openListedStore } from "support/listed_store.ts";
import { openReceiver } from "./receiver.ts";

/** Banks of each of 1,000 TPPs. */
const BANKS = isComplete ? 100 : 10;
const running = (): boolean => false;

function clientAt(index: number): ClientId {
  return `SC-00000000-0000-4000-8000-${String(index).padStart(12, "0")}` as ClientId;
}

function bankAt(index: number): BankCode {
  return `B${String(index).padStart(3, "0")}` as BankCode;
}

/** Subscribes so many TPPs at each of so many banks. */
async function subscribe(store: Store, clients: number, banks: number): Promise<void> {
  for (let client = 0; client < clients; client++) {
    const writes = Array.from({ length: banks }, (_, bank): Write => ({
      kind: "set",
      key: ["event_subscription", clientAt(client), bankAt(bank)],
      value: {
        v: 1,
        id: `${client}-${bank}`,
        clientId: clientAt(client),
        bank: bankAt(bank),
        callbackUrl: "https://tpp.example/events",
        namesTypes: false,
        createdAt: 0,
        updatedAt: 0,
      },
    }));
    assert(await store.commit({ checks: [], writes }));
  }
}

/** Adds events of an owner. Their content is of no interest to the passes. */
async function addEvents(store: Store, client: number, bank: number | undefined, count = 1): Promise<void> {
  const [family, code] = bank === undefined ? ["event_notice", "-"] : ["event", bankAt(bank)];
  const writes = Array.from({ length: count }, (_, at): Write => ({
    kind: "set",
    key: [family, clientAt(client), code, String(at).padStart(15, "0"), "t-1"],
    value: { v: 1 },
  }));
  assert(await store.commit({ checks: [], writes }));
}

async function openOwners(clients: number, banks: number) {
  const store = await openListedStore();
  await subscribe(store, clients, banks);
  const open = () => openEventOwners(store);
  return { store, open };
}

Deno.test(`a pass without events lists nothing for ${1000 * BANKS} subscriptions, also the first one after a start [EVT12]`, async () => {
  const { store, open } = await openOwners(1000, BANKS);
  const owners = open();
  for (let pass = 0; pass < 3; pass++) {
    assertEquals(await store.listedBy(() => owners(running)), { lists: 2, rows: 0 });
  }
  await store.close();
});

Deno.test("a pass reads at most 400 rows in 20 listings, however many owners have events that wait [EVT12]", async () => {
  const { store, open } = await openOwners(1000, 1);
  for (let client = 0; client < 1000; client++) await addEvents(store, client, 0);
  const owners = open();
  assertEquals((await owners(running)).length, 1000, "the first pass finds all");
  let found = 0;
  for (let pass = 0; pass < 5; pass++) {
    const cost = await store.listedBy(async () => found += (await owners(running)).length);
    assert(cost.lists <= 20 && cost.rows <= 400, JSON.stringify(cost));
  }
  assert(found >= 1000, `five passes found ${found}`);
  await store.close();
});

Deno.test("an owner behind a backlog of another is found, and a notice for every bank at each subscription [EVT12]", async () => {
  const { store, open } = await openOwners(3, 2);
  await addEvents(store, 0, 0, 500);
  await addEvents(store, 0, 1);
  await addEvents(store, 1, undefined);
  await addEvents(store, 2, 7); // it has no subscription there
  const found = async (owners = open()): Promise<readonly string[]> =>
    (await owners(running)).map(({ clientId, bank }) => `${clientId.at(-1)} at ${bank}`);
  assertEquals(await found(), ["0 at B000", "0 at B001", "1 at B000", "1 at B001"]);
  const known = open();
  await known(running);
  await addEvents(store, 2, 1);
  assertEquals((await found(known)).at(2), "2 at B001", "what another process has added");
  await store.close();
});

Deno.test("the platform's passes list nothing for each of 3,000 subscriptions [EVT12]", async () => {
  const store: ListedStore = await openListedStore();
  await using env = await openReceiver(undefined, { store });
  await subscribe(store, 30, 100);
  await env.platform.deliverEvents();
  const cost = await store.listedBy(() => env.platform.deliverEvents());
  assert(cost.lists <= 2 && cost.rows === 0, JSON.stringify(cost));
});
