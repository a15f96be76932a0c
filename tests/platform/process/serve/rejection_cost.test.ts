/** The cost of a request that the admission control rejects. A flood of them must leave the processor to other requests. */
import { assertLess } from "@std/assert";
import { rejectionCost } from "support/rejection_cost.ts";
import { openServedEnvironment } from "testing/served_environment.ts";

/** Of the processor time of a request that is served: two signatures are checked and one is made for it. */
const MAX_SHARE = 0.25;

Deno.test({
  name: "a rejected request takes at most a quarter of the processor time of one that is served",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using env = await openServedEnvironment({
      PLATFORM_RATE_LIMITS: "authorization=1000/1000,consents=1000/1000,reads=1000/1000",
      PLATFORM_REQUEST_WAIT_SECONDS: "1",
    });
    const { served, rejected } = await rejectionCost(env);
    assertLess(rejected / served, MAX_SHARE);
  },
});
