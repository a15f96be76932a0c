/** A POST of the platform whose connection ends without a response, over real connections [D4]. */
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { denoFetch } from "../../../../src/base/http/deno_fetch.ts";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { paymentRecord } from "../../../../src/platform/core/payments/stored_payment.ts";
import { ownSignerOf } from "../../../../src/platform/evidence/key_documents.ts";
import { pushOrder } from "../../../../src/platform/core/payments/push_order.ts";
import { askBank } from "../../../../src/platform/operations/recovery/ask_bank.ts";
import { NOTHING_COMPARED } from "../../../../src/platform/operations/recovery/hold.ts";
import { AUTH_URL, openEnvironment, START } from "testing/environment.ts";
import { outboxKeys, paid } from "support/orders.ts";
import { openSilentBank } from "support/silent_bank.ts";

Deno.test("a POST to a bank arrives once, whether the bank keeps the connection or ends it without a response [D4]", async (t) => {
  await using env = await openEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  assertEquals(await outboxKeys(env), []);
  const entry = await paymentRecord.get(env.store, ["payment", id]);
  if (entry === null) throw new Error("no payment");
  const keys = await openKeyRing(env.config.platformKeys);
  const { signer } = keys;
  const ownSigner = () => ownSignerOf(keys);
  const deps = { fetch: denoFetch, signer, ownSigner, authUrl: AUTH_URL, loopbackBanks: true };
  const hold = { bank: entry.value.bank, epoch: "", restoredAt: 0, since: 0, comparison: NOTHING_COMPARED };
  const posts = {
    "an order": async (uri: string) => (await pushOrder(deps, uri, entry.value, START)).outcome.ok,
    "an inquiry": async (uri: string) => (await askBank(deps, uri, hold, START)).ok,
  };
  for (const [name, post] of Object.entries(posts)) {
    await t.step(name, async () => {
      using bank = openSilentBank();
      assertEquals([await post(bank.uri), await post(bank.uri), await post(bank.uri)], [true, true, true]);
      assertEquals([bank.arrived.length, new Set(bank.arrived.map((jwt) => decodeJwt(jwt).jti)).size], [
        3,
        3,
      ]);
      bank.closes = true;
      assertEquals(await post(bank.uri), false);
      assertEquals([bank.arrived.length, new Set(bank.arrived.map((jwt) => decodeJwt(jwt).jti)).size], [
        4,
        4,
      ]);
    });
  }
});
