/** Traces are written aside, soon, and bounded by caller. */
import { assert, assertEquals } from "@std/assert";
import { newTraceNotes } from "../../../../src/base/http/context.ts";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import { type Store, StoreFailure } from "../../../../src/base/store/store.ts";
import { openTraceStore } from "../../../../src/platform/operations/traces/trace_store.ts";
import { asClientId, type ClientId } from "../../../../src/base/kernel/identifiers.ts";
import { type ReadableTrace, traceOf } from "../../../../src/platform/operations/traces/trace.ts";
import {
  openTraceQueue,
  TRACE_POLICIES,
  type TraceQueue,
} from "../../../../src/platform/operations/traces/trace_queue.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken } from "testing/flows.ts";
import { idOf, readTraces, storedTraces } from "./read_traces.ts";

const ONE = "SC-7f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11" as ClientId;
const OTHER = "SC-8f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11" as ClientId;

function traceBy(clientId: string | undefined, status = 200): ReadableTrace {
  const notes = newTraceNotes();
  if (status >= 400) notes.rejection = { reason: "token.invalid" };
  const facts = { interactionId: crypto.randomUUID(), ...(clientId === undefined ? {} : { clientId }) };
  const measured = { at: 0, milliseconds: 1, method: "GET", route: "/x", status, checks: [], passed: 0 };
  return traceOf(facts, notes, measured);
}

interface Counted {
  readonly queue: TraceQueue;
  readonly written: ReadableTrace[];
  readonly counts: Map<string, number>;
  now: number;
  failing: boolean;
}

function openCounted(): Counted {
  const counted: Omit<Counted, "queue"> = { written: [], counts: new Map(), now: 0, failing: false };
  const queue = openTraceQueue({
    traces: {
      write(traces) {
        if (counted.failing) return Promise.reject(new StoreFailure("planted"));
        counted.written.push(...traces);
        return Promise.resolve();
      },
    },
    steady: () => counted.now,
    metrics: {
      count: (_, { result = "" }: { result?: string }, by = 1) =>
        void counted.counts.set(result, (counted.counts.get(result) ?? 0) + by),
    },
  });
  return Object.assign(counted, { queue });
}

Deno.test("a trace is readable within two seconds of its request, by the running background work [TRC1, TRC6]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const reader: Environment = {
    ...env,
    platform: { ...env.platform, writeTraces: () => Promise.resolve(0) },
  };
  env.platform.startWork();
  const answer = await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1/x");
  const answeredAt = performance.now();
  while ((await readTraces(reader, `/${idOf(answer)}`, env.tpp, bound)).status !== 200) {
    assert(performance.now() - answeredAt < 2000, "the trace is not readable after two seconds");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

Deno.test("a stop writes the traces of the last second [TRC6]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const answer = await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1/x");
  await env.restart();
  const stored = (await storedTraces(env)).map(({ trace }) => trace.interactionId);
  assertEquals(stored.filter((id) => id === idOf(answer)).length, 1);
});

Deno.test("a flood of rejected requests keeps a bounded number of traces, and others keep theirs [TRC6, O4]", async () => {
  const counted = openCounted();
  for (let second = 0; second < 1000; second++) {
    counted.now = second * 1000;
    for (let n = 0; n < 20; n++) {
      counted.queue.add(traceBy(ONE, 401));
      counted.queue.add(traceBy(undefined, 401));
    }
    if (second % 100 === 0) counted.queue.add(traceBy(OTHER, 401));
    await counted.queue.write();
  }
  const kept = (clientId: string | undefined): number =>
    counted.written.filter(({ trace }) => trace.clientId === clientId).length;
  const { rejected, unknown } = TRACE_POLICIES;
  assertEquals(kept(ONE), rejected.burst + Math.floor(999 * rejected.perSecond));
  assertEquals(kept(undefined), unknown.burst + Math.floor(999 * unknown.perSecond));
  assertEquals(kept(OTHER), 10);
  assertEquals(counted.counts.get("limited"), 40_010 - counted.written.length);
  assertEquals(counted.counts.get("written"), counted.written.length);
});

Deno.test("if the store fails, the queue stays bounded and counts what it drops [TRC6]", async () => {
  const counted = openCounted();
  counted.failing = true;
  const clients = Array.from(
    { length: 50 },
    (_, n) => asClientId(ONE.replace("7f3d1c9e", `7f3d1c${10 + n}`)),
  );
  for (const clientId of clients) for (let n = 0; n < 50; n++) counted.queue.add(traceBy(clientId));
  assertEquals(counted.counts.get("dropped"), 500); // 2,500 were added
  let failures = 0;
  await counted.queue.write().catch(() => failures++);
  counted.failing = false;
  await counted.queue.write();
  assertEquals([failures, counted.written.length], [1, 2000 - 40]);
  assertEquals(counted.counts.get("dropped"), 540);
});

Deno.test("a batch of the largest traces is one commit of the store [TRC6]", async () => {
  await using env = await openEnvironment();
  const fault = { code: "Field.Invalid", path: "p".repeat(500), message: "m".repeat(500) } as const;
  const long = "x ".repeat(500);
  const largest = (): ReadableTrace => {
    const id = crypto.randomUUID();
    const facts = {
      interactionId: id,
      clientId: ONE,
      orgId: long.slice(0, 60),
      consentId: id,
      paymentId: id,
    };
    const rejection = {
      reason: "token.invalid",
      toldReason: "token.missing",
      detail: long,
      fault: { at: "a", expected: long, received: long },
      faults: Array.from({ length: 20 }, () => fault),
    } as const;
    const notes = { ...newTraceNotes(), rejection };
    notes.readers.push({ clientId: OTHER, isSender: true });
    const checks = Array.from({ length: 12 }, () => "payloadSignature");
    return traceOf(facts, notes, {
      at: env.now,
      milliseconds: 1,
      method: "DELETE",
      route: "r".repeat(80),
      status: 500,
      checks,
      passed: 3,
    });
  };
  const commits: number[] = [];
  const store: Store = {
    ...env.store,
    commit: (staged) => (commits.push(staged.writes.length), env.store.commit(staged)),
  };
  const traces = openTraceStore({ store, clock: () => env.now, keepMs: 1000 });
  const queue = openTraceQueue({ traces, steady: () => 0, metrics: { count: () => {} } });
  for (let n = 0; n < 40; n++) queue.add(largest());
  assertEquals([await queue.write(), commits.length], [40, 1]);
  assert((commits[0] ?? Infinity) < 20, `${commits[0]} rows`);
  assertEquals((await traces.about(ONE, "rejected")).length, 40);
});

Deno.test("requests of unproven callers at made-up addresses leave few traces, which no participant reads [TRC6]", async () => {
  await using env = await openEnvironment();
  for (let n = 0; n < 300; n++) {
    const answer = await env.browser(new Request(`${AUTH_URL}/BANKA/made-up-${n}`));
    assertEquals(answer.status, 404);
    await answer.body?.cancel();
  }
  await env.platform.writeTraces();
  const stored = await storedTraces(env);
  assertEquals(stored.length, TRACE_POLICIES.unknown.burst);
  const seen = stored.map(({ trace, readers }) => `${readers.length} ${trace.route}`);
  assertEquals(new Set(seen), new Set(["0 none"]));
});

Deno.test("traces in any script are below the limits of the store [TRC6, TRC12]", async () => {
  const store = await openDenoKv(":memory:");
  const now = Date.now();
  const traces = openTraceStore({ store, clock: () => now, keepMs: 86_400_000 });
  const jwt = () => ({ name: "DPoP", header: "字".repeat(1800), claims: "字".repeat(1800) });
  const written = Array.from({ length: 12 }, () => {
    const { trace, ...whose } = traceBy(ONE, 401);
    return { ...whose, trace: { ...trace, at: now, received: [jwt(), jwt()] } };
  });
  await traces.write(written);
  for (const { trace: { interactionId } } of written) {
    assertEquals((await traces.byInteraction(interactionId, ONE)).traces.length, 1);
  }
  await store.close();
});
