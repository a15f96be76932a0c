/** An event that one process pushes is not pushed by another one meanwhile (contract EVT12, EVT13). */
import { assertEquals } from "@std/assert";
import type { StoredEvent } from "../../../src/platform/events/event.ts";
import { authorised } from "testing/authorization_flow.ts";
import { anotherProcess } from "support/processes.ts";
import { acknowledges, away, openReceiver, pushedLater, silent } from "./receiver.ts";

Deno.test("a process whose own wait is over does not push an event that another process is pushing [EVT12, EVT13]", async () => {
  await using env = await openReceiver(away);
  await authorised(env);
  const other = await anotherProcess(env);
  assertEquals(await pushedLater(env, 0), 1, "this process fails, and waits");
  const arrived = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<Response>();
  env.answer = () => {
    arrived.resolve();
    return answered.promise;
  };
  env.now += 2000;
  const pushing = other.deliverEvents();
  await arrived.promise;
  assertEquals(await env.platform.deliverEvents(), 0);
  assertEquals(env.received.length, 2);
  answered.resolve(acknowledges());
  assertEquals(await pushing, 1);
  assertEquals(await pushedLater(env, 60_000), 0, "it is delivered");
});

Deno.test("a push that fails after its lease has ended is not counted on the lease of another process [EVT12]", async () => {
  await using env = await openReceiver(silent);
  await authorised(env);
  const failures = async (): Promise<number | undefined> => {
    const [entry] = await env.store.list<StoredEvent>({ prefix: ["event"], limit: 2 });
    return entry?.value.push?.failures;
  };
  const hung = env.platform.deliverEvents();
  while (env.received.length === 0) await new Promise((done) => setTimeout(done, 5));
  const other = await anotherProcess(env);
  const answered = Promise.withResolvers<Response>();
  env.answer = () => answered.promise;
  env.now += 15_001; // the lease of the first push
  const second = other.deliverEvents();
  while (env.received.length === 1) await new Promise((done) => setTimeout(done, 5));
  await hung;
  assertEquals(await failures(), 0);
  answered.resolve(away());
  await second;
  assertEquals(await failures(), 1);
  await other.stop();
});
