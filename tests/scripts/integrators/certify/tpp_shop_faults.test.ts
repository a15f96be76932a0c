/** The certification of TPPs finds each planted fault of the shop and of the client library by its own case. */
import { assertFound, openFaultBench } from "support/tpp_certification.ts";
import { SHOP_FAULTS } from "support/tpp_shop_faults.ts";

Deno.test("the certification of TPPs finds each fault of a web shop by one case [SB11]", async (t) => {
  await using faults = await openFaultBench();
  for (const fault of SHOP_FAULTS) {
    await t.step(`${fault.finds}: ${fault.what}`, async () => {
      await using shop = await faults.shop(fault);
      await assertFound(shop.bench, fault);
    });
  }
});
