/** A receiver that does not answer delays no other receiver (contract EVT13). */
import { assert, assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { until } from "support/raw_client.ts";
import { acknowledges, openReceiver, silent } from "./receiver.ts";
import { ApiError } from "../../../src/base/kernel/api_error.ts";
import { beforeCommit } from "./interrupted.ts";
import { CALLBACK, OTHER_CALLBACK, subscribed } from "./subscribing.ts";

Deno.test("a receiver that does not answer has 10 requests at most, and another one's event does not wait for it [EVT13]", async () => {
  await using env = await openReceiver(silent);
  await authorised(env);
  await subscribed(env, { by: env.otherTpp, callback: OTHER_CALLBACK });
  const [entry] = await env.store.list<object>({ prefix: ["event"], limit: 1 });
  if (entry === null || entry === undefined) throw new Error("no event");
  const copyFor = (clientId: string) => {
    const consentId = crypto.randomUUID();
    const key = [...entry.key.slice(0, 1), clientId, ...entry.key.slice(2, 4), consentId];
    return { kind: "set" as const, key, value: { ...entry.value, consentId } };
  };
  const many = Array.from({ length: 40 }, () => copyFor(env.tpp.clientId));
  await env.store.commit({ checks: [], writes: many });
  const hung = env.platform.deliverEvents();
  const reached = (uri: string): number => env.received.filter(({ request }) => request.url === uri).length;
  await until(() => reached(CALLBACK) >= 10);
  env.answer = (received) => received.request.url === CALLBACK ? silent(received) : acknowledges();
  await env.store.commit({ checks: [], writes: [copyFor(env.otherTpp.clientId)] });
  const began = performance.now();
  const others = env.platform.deliverEvents();
  await until(() => reached(OTHER_CALLBACK) > 0);
  assertEquals(reached(OTHER_CALLBACK), 1);
  assert(performance.now() - began < 2000, "it waited for the other receiver");
  assertEquals(reached(CALLBACK), 10);
  await Promise.all([hung, others]);
});

Deno.test("a push whose result cannot be stored frees no slot of those under way beside it [EVT13]", async () => {
  const [stored, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using env = await openReceiver(async () => {
    const isFirst = env.received.length === 1;
    await (isFirst ? stored : ended).promise;
    return acknowledges();
  });
  await authorised(env);
  const [entry] = await env.store.list<object>({ prefix: ["event"], limit: 1 });
  if (entry === undefined) throw new Error("no event");
  const copies = Array.from({ length: 2 }, () => {
    const consentId = crypto.randomUUID();
    const key = [...entry.key.slice(0, 4), consentId];
    return { kind: "set" as const, key, value: { ...entry.value, consentId } };
  });
  await env.store.commit({ checks: [], writes: copies });
  const order: string[] = [];
  const walk = env.platform.deliverEvents().finally(() => order.push("the walk ended"));
  await until(() => env.received.length >= 3);
  const failed = Promise.withResolvers<void>();
  const mend = beforeCommit(env.store, "event", () => {
    failed.resolve();
    throw new ApiError("store.unavailable");
  });
  stored.resolve();
  await failed.promise;
  for (let turn = 0; turn < 100; turn++) await new Promise((next) => setTimeout(next)); // what can go on has gone on
  mend();
  order.push("the others were answered");
  ended.resolve();
  await walk.catch(() => {});
  assertEquals(order, ["the others were answered", "the walk ended"]);
});
