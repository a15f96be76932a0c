/** The claim of a reminder by a process that pauses. */
import { assertEquals } from "@std/assert";
import { asOrgId } from "../../../src/directory/participants/identifiers.ts";
import { claimReminder, settleReminder } from "../../../src/directory/reminders/reminder_store.ts";
import { present } from "testing/answers.ts";
import { openTestStore } from "testing/test_store.ts";

Deno.test("a process that pauses until its claim has ended does not end the claim of another one [DRM2]", async () => {
  await using store = await openTestStore();
  let now = 0;
  const deps = { store, clock: () => now };
  const claim = (): ReturnType<typeof claimReminder> =>
    claimReminder(deps, present(asOrgId("SHOP")), { id: "statement 1", endsAt: 86_400_000 }, 1);
  const paused = present(await claim());
  now = 5 * 60_000;
  const other = present(await claim());
  assertEquals(await settleReminder(deps, paused, "unreachable"), "claimed");
  assertEquals(await claim(), undefined, "the other process sends the mail");
  assertEquals(await settleReminder(deps, other, "rejected"), "waiting");
  assertEquals((await claim())?.reminder.rejections, 1);
});
