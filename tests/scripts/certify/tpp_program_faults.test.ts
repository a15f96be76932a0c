/** The certification of TPPs finds each planted fault of a program by its own case. */
import { assertFound, openFaultBench } from "support/tpp_certification.ts";
import { COMMAND_FAULTS } from "support/tpp_faults.ts";

Deno.test("the certification of TPPs finds each fault of a program by one case [SB11]", async (t) => {
  await using faults = await openFaultBench();
  for (const fault of COMMAND_FAULTS) {
    await t.step(`${fault.finds}: ${fault.what}`, async () => {
      await assertFound(await faults.program(fault), fault);
    });
  }
});
