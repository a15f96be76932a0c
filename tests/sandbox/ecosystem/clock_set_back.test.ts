/** A clock that is set back, in a sandbox or by NTP, leaves nobody waiting for a time that was never reached. */
import { assertEquals } from "@std/assert";
import { asBankCode, asClientId } from "../../../src/base/kernel/identifiers.ts";
import { openBankCircuit } from "../../../src/platform/payments/bank_circuit.ts";
import { openBucketStore } from "../../../src/platform/security/rate_limit_store.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";

const HOUR_MS = 3_600_000;

Deno.test("a limit that was reached before the clock was set back is a limit of seconds after it", async () => {
  const store = await openDenoKv(":memory:");
  let now = Date.now() + HOUR_MS;
  const buckets = openBucketStore(store, () => now);
  const take = (): Promise<number> => buckets.take(["reads", "x"], { perSecond: 1, burst: 1 });
  assertEquals([await take(), await take()], [0, 1]);
  now -= HOUR_MS;
  const waits = [await take()];
  for (let second = 0; second < 3 && waits.at(-1) !== 0; second++) {
    now += 1000;
    waits.push(await take());
  }
  assertEquals([waits.at(-1), waits.every((wait) => wait <= 1)], [0, true], waits.join());
  store.close();
});

Deno.test("a bank's failures before the clock was set back are no failures after it", () => {
  let now = HOUR_MS;
  const circuit = openBankCircuit(() => now);
  const bank = asBankCode("BANKA");
  const clientId = asClientId("SC-0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00");
  if (bank === undefined || clientId === undefined) throw new Error("not an id");
  const order = { bank, clientId, failures: 0 };
  for (let failure = 0; failure < 5; failure++) circuit.unreachable(order);
  assertEquals(circuit.isOpen(bank, clientId), true);
  now = 0;
  assertEquals([circuit.isOpen(bank, clientId), circuit.admit(order)], [false, undefined]);
});
