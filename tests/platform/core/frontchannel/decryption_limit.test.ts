/** How often others make a process decrypt, and what they are told beyond that [BR19]. */
import { assertEquals } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { asBankCode, type BankCode } from "../../../../src/base/kernel/identifiers.ts";
import {
  openDecryptionLimit,
  openDeliveryLimit,
} from "../../../../src/platform/core/frontchannel/decryption_limit.ts";

/** What a call is told: nothing, or the reason, its details and the wait. */
function told(call: () => void): unknown {
  try {
    call();
    return "taken";
  } catch (error) {
    return error instanceof ApiError ? [error.reason, error.parts] : error;
  }
}

function unavailable(detail: string, retryAfterSeconds: number): unknown {
  return ["platform.unavailable", { detail, retryAfterSeconds }];
}

const HOUR_MS = 3_600_000;
const OTHERS = "too many results of banks were decrypted for browsers that began no session";
const DELIVERED = "too many results that the bank delivered were not authentic";

Deno.test("a session has five decryptions and one more an hour, all others have 2,000 together and 10,000 a day [BR19]", () => {
  let now = 1_800_000_000_000;
  const take = openDecryptionLimit(() => now);
  const taken = (correlationId: string | undefined, most: number): number => {
    let count = 0;
    while (count < most && told(() => take(correlationId)) === "taken") count++;
    return count;
  };
  assertEquals(taken(undefined, 3000), 2000);
  assertEquals(told(() => take(undefined)), unavailable(OTHERS, 9)); // 8.64 s
  assertEquals([taken("one", 9), taken("other", 9)], [5, 5], "theirs are not those of others");
  assertEquals(told(() => take("one")), unavailable(OTHERS, 9));
  now += 8639;
  assertEquals(told(() => take(undefined)), unavailable(OTHERS, 1));
  now += 2;
  assertEquals([taken("one", 9), taken(undefined, 9)], [1, 0], "beyond its five it has those of others");
  now += HOUR_MS;
  assertEquals(taken("one", 999), 1 + 416, "3,600 s of 8.64 s each");
  now += 24 * HOUR_MS;
  assertEquals(taken(undefined, 3000), 2000);
  const MANY = 1999; // so that a second more or less of a day makes a difference
  now += MANY * 8640 - 100;
  assertEquals(taken(undefined, 3000), MANY - 1);
  now += 200;
  assertEquals(taken(undefined, 3000), 1);
  assertEquals(taken("third", 9), 5);
  now += 4 * HOUR_MS - 2000;
  assertEquals(taken(undefined, 3000), 1666);
  assertEquals(taken("third", 9), 3);
  now += 3000;
  assertEquals(taken("third", 9), 1);
});

Deno.test("100,000 sessions are counted, and 10,000 banks; one more takes the place of the one unused longest [BR19]", () => {
  const take = openDecryptionLimit(() => 0);
  for (let other = 0; other < 2000; other++) take(undefined);
  for (let time = 0; time < 5; time++) take("first");
  for (let other = 0; other < 100_000; other++) take(`${other}`);
  assertEquals(told(() => take("first")), "taken");
  const limit = openDeliveryLimit(() => 0);
  const bankOf = (number: number): BankCode => `B${number}` as BankCode;
  for (let time = 0; time < 50; time++) limit.noteFailure(bankOf(0));
  for (let other = 1; other <= 10_000; other++) limit.noteFailure(bankOf(other));
  limit.noteFailure(bankOf(0));
  assertEquals(told(() => limit.expect(bankOf(0))), "taken");
});

Deno.test("a bank has 50 unauthentic deliveries and 1,000 a day, and its next one waits; other banks do not [BR19]", () => {
  let now = 1_800_000_000_000;
  const limit = openDeliveryLimit(() => now);
  const [one, other] = [asBankCode("BANKA"), asBankCode("BANKB")];
  if (one === undefined || other === undefined) throw new Error("two codes");
  for (let failed = 0; failed < 50; failed++) {
    assertEquals(told(() => limit.expect(one)), "taken");
    limit.noteFailure(one);
  }
  assertEquals(told(() => limit.expect(one)), "taken");
  limit.noteFailure(one); // 86.4 s for each
  assertEquals(told(() => limit.expect(one)), unavailable(DELIVERED, 87));
  assertEquals(told(() => limit.expect(other)), "taken");
  now += 999;
  assertEquals(told(() => limit.expect(one)), unavailable(DELIVERED, 87));
  now += 86_000;
  assertEquals(told(() => limit.expect(one)), unavailable(DELIVERED, 1));
  now += 1;
  assertEquals(told(() => limit.expect(one)), "taken");
  limit.noteFailure(one);
  assertEquals(told(() => limit.expect(one)), "taken", "one token has come back");
  limit.noteFailure(one);
  assertEquals(told(() => limit.expect(one)), unavailable(DELIVERED, 86));
  now += 4_233_600 - 2000; // 49 times 86.4 s
  for (let failed = 0; failed < 48; failed++) limit.noteFailure(one);
  assertEquals(told(() => limit.expect(one)), "taken");
  limit.noteFailure(one);
  assertEquals(told(() => limit.expect(one)), unavailable(DELIVERED, 2));
});
