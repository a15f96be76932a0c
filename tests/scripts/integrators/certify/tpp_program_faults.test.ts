/** The certification of TPPs finds each planted fault of a program by its own case. */
import { assert } from "@std/assert";
import { partOf } from "support/part_of.ts";
import { assertFound, openFaultBench } from "support/tpp_certification.ts";
import { COMMAND_FAULTS } from "support/tpp_faults.ts";

Deno.test("the certification of TPPs finds each fault of a program by one case [SB11]", async (t) => {
  await using bench = await openFaultBench();
  const faults = partOf(COMMAND_FAULTS, 2);
  assert(faults.length >= 20);
  for (const fault of faults) {
    await t.step(`${fault.finds}: ${fault.what}`, async () => {
      await assertFound(await bench.program(fault), fault);
    });
  }
});
