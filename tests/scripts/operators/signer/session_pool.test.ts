/** The sessions of a token that hangs: bounded in number and in time. */
import { assertEquals, assertRejects } from "@std/assert";
import { openSessionPool, TokenBusy } from "../../../../scripts/operators/signer/session_pool.ts";

const BOUNDS = { sessions: 2, waiting: 3, deadlineMs: 20 };

Deno.test("a token that hangs takes its sessions alone; callers fail at the deadline, and too many at once [F12]", async () => {
  const withSession = openSessionPool<number>(BOUNDS);
  const hanging = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  let begun = 0;
  const hang = (index: 0 | 1): Promise<void> =>
    withSession(async () => {
      begun++;
      await hanging[index].promise;
    });
  const idle = (): Promise<string> => withSession(() => Promise.resolve("done"));
  const late = [hang(0), hang(1), idle(), idle(), idle()];
  const { message } = await assertRejects(idle, TokenBusy);
  assertEquals(message, "too many requests wait for the token");
  for (const each of await Promise.allSettled(late)) assertEquals(each.status, "rejected");
  await assertRejects(idle, TokenBusy, "has not answered within 20 ms");
  assertEquals(begun, 2);
  hanging[0].resolve(); // the call returns after all
  assertEquals(await idle(), "done");
  hanging[1].resolve();
});

Deno.test("a failed operation leaves its session to the next, which finds what it has put there [F12]", async () => {
  const withSession = openSessionPool<number>({ ...BOUNDS, sessions: 1 });
  await assertRejects(
    () =>
      withSession((slot) => {
        slot.session = 7;
        return Promise.reject(new Error("planted"));
      }),
    Error,
    "planted",
  );
  assertEquals(await withSession((slot) => Promise.resolve(slot.session)), 7);
});
