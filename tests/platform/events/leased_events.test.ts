/** An event that one process pushes is not pushed by another one meanwhile (contract EVT12, EVT13). */
import { assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { anotherProcess } from "support/processes.ts";
import { acknowledges, away, openReceiver, pushedLater } from "./receiver.ts";

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
