/** The bounds of one walk over a subscriber's events (contract EVT11, EVT13; Decision T3). */
import { assert, assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { authorised } from "testing/authorization_flow.ts";
import type { Entry, Listing, Store } from "../../../src/base/store/store.ts";
import { anotherProcess } from "support/processes.ts";
import { BOUND_MS } from "support/standing.ts";
import { steps } from "support/steps.ts";
import { testWith } from "support/environment_test.ts";
import { acknowledges, away, openReceiver, pushedLater, type ReceiverEnvironment } from "./receiver.ts";
import { block, unsubscribe } from "./subscribing.ts";

const test = testWith(() => openReceiver());

/** Adds copies of the one event, each of a consent of its own, before it in time. */
async function addEvents(env: ReceiverEnvironment, many: number, members: object = {}): Promise<void> {
  const [entry] = await env.store.list<object>({ prefix: ["event"], limit: 1 });
  if (entry === undefined) throw new Error("no event");
  const [name = "", client = "", bank = "", at = ""] = entry.key;
  const position = String(Number(at) - 1).padStart(15, "0");
  for (let start = 0; start < many; start += 100) {
    const writes = Array.from({ length: Math.min(100, many - start) }, () => {
      const consentId = crypto.randomUUID();
      const key = [name, client, bank, position, consentId];
      return { kind: "set" as const, key, value: { ...entry.value, consentId, ...members } };
    });
    await env.store.commit({ checks: [], writes });
  }
}

const STOPPED: Readonly<Record<string, (env: ReceiverEnvironment) => Promise<unknown>>> = {
  "an operator blocks": block,
  "ends its subscription": unsubscribe,
};

Deno.test("pushes under way are the last ones to a TPP that [EVT11]", async (t) => {
  await steps(t, STOPPED, async (stop) => {
    await using env = await openReceiver();
    await authorised(env);
    await addEvents(env, 40);
    const stopped = Promise.withResolvers<void>();
    env.answer = async () => {
      if (env.received.length === 1) {
        await stop(env);
        env.now += BOUND_MS;
        stopped.resolve();
      }
      await stopped.promise;
      return acknowledges();
    };
    assertEquals([await env.platform.deliverEvents(), env.received.length], [10, 10]);
  });
});

test("a walk ends after 30 s, and the next one goes on [EVT13, T3]", async ({ env }) => {
  await authorised(env);
  await addEvents(env, 40);
  env.answer = () => (env.now += 4000, acknowledges());
  assertEquals(await env.platform.deliverEvents(), 10);
  assertEquals(await env.platform.deliverEvents(), 10);
});

test("an event that another process has stored behind the read ones is pushed before the next of its consent [EVT13, EVT1]", async ({ env }) => {
  await authorised(env);
  await addEvents(env, 199); // with the one that is there, a whole page
  const [first] = await env.store.list<object>({ prefix: ["event"], limit: 1 });
  const [name = "", client = "", bank = "", at = ""] = first?.key ?? [];
  const consentId = crypto.randomUUID();
  const positions = [Number(at) - 1, Number(at) + 1000].map((position) => String(position).padStart(15, "0"));
  env.answer = async () => {
    if (env.received.length === 1) {
      const writes = positions.map((position) => {
        const key = [name, client, bank, position, consentId];
        return { kind: "set" as const, key, value: { ...first?.value, consentId } };
      });
      await env.store.commit({ checks: [], writes });
    }
    return acknowledges();
  };
  while (await env.platform.deliverEvents() > 0);
  const jtis = env.received.map(({ token }) => String(decodeJwt(token).jti));
  const expected = positions.map((position) => `${Number(position)}-${consentId}`);
  assertEquals(jtis.filter((jti) => jti.endsWith(consentId)), expected);
});

test("a pause that a receiver asks for ends the walk [EVT12]", async ({ env }) => {
  await authorised(env);
  await addEvents(env, 40);
  env.answer = () => new Response(null, { status: 429, headers: { "retry-after": "100" } });
  assertEquals(await env.platform.deliverEvents(), 10);
  const { process, pages } = await counting(env);
  assertEquals([await env.platform.deliverEvents(), pages()], [0, 0]);
  env.answer = acknowledges;
  assertEquals(await pushedLater(env, 99_000), 0);
  assertEquals(await pushedLater(env, 1_000 + 26_000), 41);
  await process.stop();
});

/** Another process, and how many pages of an owner's events it has read. */
async function counting(env: ReceiverEnvironment) {
  let pages = 0;
  const store: Store = {
    ...env.store,
    async list<T>(listing: Listing): Promise<Entry<T>[]> {
      if (listing.prefix[0] === "event" && listing.prefix.length > 1) pages++;
      return await env.store.list<T>(listing);
    },
  };
  const process = await anotherProcess(Object.assign(Object.create(env), { store }));
  return { process, pages: () => pages };
}

const DEAD = { push: { failures: 11, rejections: 11, dueAt: 0, dead: true, why: "status 400" } };

test("a backlog of dead events is read again after a rest that is as long as the backlog [T3]", async ({ env }) => {
  await authorised(env);
  await addEvents(env, 450, DEAD);
  assertEquals(await env.platform.deliverEvents(), 1);
  const { process, pages } = await counting(env);
  const read: number[] = [];
  for (const later of [0, 0, 2000, 400, 0]) {
    env.now += later;
    assertEquals(await process.deliverEvents(), 0);
    read.push(pages());
  }
  assertEquals(read, [3, 3, 3, 6, 6]);
  await process.stop();
});

test("events behind a backlog of dead ones are pushed when they are stored and when they are due [EVT12, T3]", async ({ env }) => {
  await authorised(env);
  await addEvents(env, 1000, DEAD);
  env.answer = away;
  assertEquals([await env.platform.deliverEvents(), await env.platform.deliverEvents()], [1, 0]);
  env.answer = acknowledges;
  assertEquals(await pushedLater(env, 1250), 1);
  assertEquals([await env.platform.deliverEvents(), await env.platform.deliverEvents()], [0, 0]);
  await authorised(env);
  assertEquals(await env.platform.deliverEvents(), 1);
});

/** Subscribes the TPP at nine more banks, with copies of its events. */
async function atTenBanks(env: ReceiverEnvironment): Promise<void> {
  const rows = await Promise.all(
    ["event", "event_subscription"].map((name) => env.store.list<object>({ prefix: [name], limit: 100 })),
  );
  for (let index = 0; index < 9; index++) {
    const bank = `BANKX${index}`;
    const writes = rows.flat().map(({ key: [name = "", client = "", , ...rest], value }) => ({
      kind: "set" as const,
      key: [name, client, bank, ...rest],
      value: name === "event" ? value : { ...value, bank },
    }));
    await env.store.commit({ checks: [], writes });
  }
}

test("a client has four walks at a time [EVT13]", async ({ env }) => {
  await authorised(env);
  await atTenBanks(env);
  const held = Promise.withResolvers<void>();
  env.answer = async () => (await held.promise, acknowledges());
  const first = env.platform.deliverEvents();
  while (env.received.length < 4) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(done, 300));
  assertEquals(env.received.length, 4);
  held.resolve();
  assertEquals(await first, 4);
});

test("each bank of a client has its turn, however many events wait at the first ones [EVT13, T3]", async ({ env }) => {
  await authorised(env);
  await addEvents(env, 60);
  await atTenBanks(env);
  env.answer = () => (env.now += 4000, acknowledges());
  const served = () => new Set(env.received.map(({ token }) => decodeJwt(token).iss)).size;
  // The clock moves for all walks at once, so a walk may end before its first push. Four banks have events for 20 rounds.
  for (let times = 0; times < 15 && served() < 10; times++) await env.platform.deliverEvents();
  assertEquals(served(), 10);
});

test("a walk whose pages each have a due event reads a bounded number of pages again, and the next ones go on [EVT13, T3]", async ({ env }) => {
  await authorised(env);
  await env.platform.deliverEvents();
  await authorised(env);
  const pages = 16;
  for (let page = 0; page < pages; page++) {
    await addEvents(env, 1, { push: undefined });
    await addEvents(env, 199, { push: { failures: 3, rejections: 0, dueAt: env.now - 1, dead: true } });
  }
  let lists = 0;
  const { list } = env.store;
  Object.assign(env.store, {
    list: <T>(listing: Listing): Promise<Entry<T>[]> => {
      if (listing.prefix[0] === "event") lists++;
      return list<T>(listing);
    },
  });
  env.received.length = 0;
  let most = 0;
  for (let walk = 0; walk < 5; walk++) {
    lists = 0;
    env.now += 1000;
    await env.platform.deliverEvents();
    most = Math.max(most, lists);
  }
  assert(most <= 50 + 60 + 20, `${most} pages`);
  assertEquals(env.received.length, pages + 1);
});
