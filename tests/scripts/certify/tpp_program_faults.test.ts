/** The certification of TPPs finds each planted fault of a program by its own case. */
import { assert } from "@std/assert";
import { everySecond } from "support/every_second.ts";
import { assertFound, openFaultBench } from "support/tpp_certification.ts";
import { COMMAND_FAULTS } from "support/tpp_faults.ts";

Deno.test("the certification of TPPs finds each fault of a program by one case [SB11]", async (t) => {
  await using bench = await openFaultBench();
  const faults = everySecond(COMMAND_FAULTS);
  assert(faults.length >= 20);
  for (const fault of faults) {
    await t.step(`${fault.finds}: ${fault.what}`, async () => {
      await assertFound(await bench.program(fault), fault);
    });
  }
});
