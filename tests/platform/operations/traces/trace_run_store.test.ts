/** Look-ups of traces find the same before and after runs are merged. */
import { assert, assertEquals } from "@std/assert";
import { newTraceNotes } from "../../../../src/base/http/context.ts";
import type { ClientId } from "../../../../src/base/kernel/identifiers.ts";
import { timeOfNewestFirst } from "../../../../src/platform/config/store_keys.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { openTestStore } from "testing/test_store.ts";
import { type ReadableTrace, traceOf } from "../../../../src/platform/operations/traces/trace.ts";
import { placeIn, traceOfRecord } from "../../../../src/platform/operations/traces/trace_run_store.ts";
import { openTraceStore, type TraceStore } from "../../../../src/platform/operations/traces/trace_store.ts";

const client = (n: number): ClientId => `SC-${n % 3}f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11` as ClientId;
const KEPT_MS = 1_000_000;

interface Fixture extends AsyncDisposable {
  readonly store: Store;
  readonly traces: TraceStore;
  now: number;
}

async function openFixture(changed: (store: Store) => Store = (store) => store): Promise<Fixture> {
  const store = await openTestStore();
  const fixture = { store, now: Date.now(), [Symbol.asyncDispose]: () => store.close() };
  const traces = openTraceStore({ store: changed(store), clock: () => fixture.now, keepMs: KEPT_MS });
  return Object.assign(fixture, { traces });
}

interface Made {
  readonly clientId: ClientId;
  readonly consentId: string;
  readonly isRejected?: boolean;
  readonly interactionId?: string;
  readonly bystander?: ClientId;
}

function made({ now }: Fixture, { isRejected = false, bystander, ...ids }: Made): ReadableTrace {
  const notes = newTraceNotes();
  if (isRejected) notes.rejection = { reason: "token.invalid", detail: "for the sender" };
  if (bystander !== undefined) notes.readers.push({ clientId: bystander, isSender: false });
  const facts = { interactionId: crypto.randomUUID(), ...ids };
  return traceOf(facts, notes, {
    at: now,
    milliseconds: 1,
    method: "GET",
    route: "/x",
    status: 200,
    checks: [],
    passed: 0,
  });
}

async function rowsOf(store: Store, record: string, level?: string): Promise<number> {
  const prefix = [record, ...(level === undefined ? [] : [level])];
  return (await store.list({ prefix, limit: 10_000 })).length;
}

async function entriesOf(store: Store): Promise<readonly { readonly run: string; readonly at: number }[]> {
  const rows = await store.list({ prefix: [traceOfRecord.name], limit: 10_000 });
  return rows.flatMap(({ key: [, run = ""], value }) => {
    const { entries } = value as { readonly entries: readonly string[] };
    return entries.map((entry) => ({ run, at: timeOfNewestFirst(placeIn(entry)) }));
  });
}

Deno.test("a trace is found by each of its ids, and by its readers alone, after each merge of runs [TRC3, TRC4, O4]", async () => {
  await using fixture = await openFixture();
  const { traces, store } = fixture;
  const written: ReadableTrace[] = [];
  const consents = Array.from({ length: 40 }, () => crypto.randomUUID());
  for (let pass = 0; pass < 16 * 17 + 3; pass++) {
    fixture.now += 1000;
    const batch = [0, 1].map((n) => {
      const [clientId, bystander] = [client(pass + n), client(pass + n + 1)];
      const consentId = consents[(pass * 7 + n) % 40] ?? "";
      return made(fixture, { clientId, consentId, bystander, isRejected: pass % 50 === 0 });
    });
    written.push(...batch);
    await traces.write(batch);
    await traces.merge();
    if (pass % 90 === 0 || pass > 16 * 17) await compare(fixture, written, consents.slice(0, 3));
  }
  const runs = await Promise.all(["0", "1", "2"].map((level) => rowsOf(store, "trace_run", level)));
  assertEquals(runs, [3, 1, 1], "16 runs become one of the next level");
  for (const { trace } of written) {
    const { traces: found, isComplete } = await traces.byInteraction(trace.interactionId);
    assertEquals([found, isComplete], [[trace], true]);
  }
});

/** Compares each reader's lists with what was written. */
async function compare(
  { traces }: Fixture,
  written: readonly ReadableTrace[],
  consents: readonly string[],
): Promise<void> {
  for (const reader of [0, 1, 2].map(client)) {
    const own = written.filter(({ readers }) => readers.some(({ clientId }) => clientId === reader))
      .map(({ trace }) => trace).toReversed();
    for (const consent of consents) {
      const expected = own.filter(({ consentId }) => consentId === consent);
      assertEquals(idsOf(await traces.about(reader, consent)), idsOf(expected));
    }
    const rejected = own.filter(({ rejection }) => rejection !== undefined);
    const found = await traces.about(reader, "rejected");
    assertEquals(idsOf(found), idsOf(rejected));
    const told = found.filter(({ rejection }) => rejection?.detail !== undefined);
    assert(told.every(({ clientId }) => clientId === reader), "a bystander reads what was wrong");
  }
}

const idsOf = (traces: readonly { readonly interactionId: string }[]): readonly string[] =>
  traces.map(({ interactionId }) => interactionId).toSorted();

Deno.test("one caller's traces under an id hide none of another caller's, also when runs have been merged [TRC7, O4]", async () => {
  await using fixture = await openFixture();
  const { traces } = fixture;
  const [flooding, other] = [client(0), client(1)];
  const [interactionId, consentId] = [crypto.randomUUID(), crypto.randomUUID()];
  const first = made(fixture, { clientId: other, consentId, interactionId });
  await traces.write([first]);
  for (let pass = 0; pass < 300; pass++) {
    fixture.now += 1000;
    await traces.write([made(fixture, { clientId: flooding, consentId, interactionId })]);
    await traces.merge();
  }
  const { traces: found, isComplete } = await traces.byInteraction(interactionId);
  const by = (caller: ClientId): number => found.filter(({ clientId }) => clientId === caller).length;
  assertEquals([by(flooding), by(other), isComplete], [25, 1, false]);
  assertEquals((await traces.byInteraction(interactionId, other)).traces, [first.trace]);
  assertEquals((await traces.about(flooding, consentId)).length, 50);
  assertEquals((await traces.byInteraction(interactionId, flooding)).traces.length, 50);
});

Deno.test("entries of traces that are no longer kept leave with the next merge, and rows of merged runs with the one after it [TRC6]", async () => {
  await using fixture = await openFixture();
  const { traces, store } = fixture;
  const [clientId, consentId] = [client(0), crypto.randomUUID()];
  const write = async (passes: number): Promise<void> => {
    for (let pass = 0; pass < passes; pass++) {
      await traces.write([made(fixture, { clientId, consentId })]);
      await traces.merge();
    }
  };
  await write(257);
  assertEquals([await rowsOf(store, "trace_run", "2"), await rowsOf(store, "trace_of")], [1, 17]);
  await write(16);
  assertEquals(await rowsOf(store, "trace_of"), 2);
  fixture.now += 2 * KEPT_MS;
  assertEquals(await traces.about(clientId, consentId), []);
  await write(256 - 16);
  const merged = (await store.list({ prefix: ["trace_run", "2"], limit: 9 })).map(({ key }) => key[2]);
  const entries = (await entriesOf(store)).filter(({ run }) => merged.includes(run));
  const [old = [], young = []] = [0, 1].map((is) =>
    entries.filter(({ at }) => Number(at >= fixture.now) === is)
  );
  const runsOf = (some: typeof entries): number => new Set(some.map(({ run }) => run)).size;
  assertEquals([merged.length, runsOf(old), runsOf(young), runsOf(entries)], [2, 1, 1, 2]);
});

Deno.test("one pass merges all runs that are due, so that none are left behind by a flood [O4]", async () => {
  await using fixture = await openFixture();
  const { traces, store } = fixture;
  const [clientId, consentId] = [client(0), crypto.randomUUID()];
  for (let pass = 0; pass < 40; pass++) await traces.write([made(fixture, { clientId, consentId })]);
  assertEquals(await traces.merge(), 32);
  const runs = await Promise.all(["0", "1"].map((level) => rowsOf(store, "trace_run", level)));
  assertEquals([runs, (await traces.about(clientId, consentId)).length], [[8, 2], 40]);
});

Deno.test("runs that another process has merged meanwhile are merged once [O4]", async () => {
  const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using fixture = await openFixture((store) => ({
    ...store,
    async commit(staged) {
      if (staged.checks.length > 0) await (reached.resolve(), go.promise);
      return await store.commit(staged);
    },
  }));
  const { traces, store } = fixture;
  const [clientId, consentId] = [client(0), crypto.randomUUID()];
  for (let pass = 0; pass < 16; pass++) await traces.write([made(fixture, { clientId, consentId })]);
  const late = traces.merge();
  await reached.promise;
  const other = openTraceStore({ store, clock: () => fixture.now, keepMs: KEPT_MS });
  assertEquals(await other.merge(), 16);
  go.resolve();
  assertEquals([await late, await rowsOf(store, "trace_run"), await rowsOf(store, "trace_of")], [0, 1, 1]);
  assertEquals((await traces.about(clientId, consentId)).length, 16);
});
