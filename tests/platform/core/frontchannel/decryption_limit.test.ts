/** How often a process decrypts what is said to be a bank's return. */
import { assertEquals, assertThrows } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { openDecryptionLimit } from "../../../../src/platform/core/frontchannel/decryption_limit.ts";
import { goodReturn } from "support/at_bank.ts";
import { Browser, toBank } from "testing/authorization_flow.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { openEnvironment } from "testing/environment.ts";
import { assertCodeAnswer } from "testing/front_channel.ts";

const DAY = 86_400_000;

/** How often it may decrypt now, until it is refused. */
function left(take: () => void): number {
  for (let count = 0; count < 100_000; count++) {
    try {
      take();
    } catch {
      return count;
    }
  }
  throw new Error("there is no bound");
}

Deno.test("decryptions of browsers that began no session are bounded at once and by day, those of sessions apart [BR19]", () => {
  let now = 0;
  const take = openDecryptionLimit(() => now);
  assertEquals(left(() => take(undefined)), 2000);
  assertEquals([left(() => take("a")), left(() => take("b"))], [5, 5]);
  const { reason, parts } = assertThrows(() => take(undefined), ApiError);
  assertEquals([reason, parts.retryAfterSeconds], ["platform.unavailable", 9]);
  now += 3_600_000;
  assertEquals([left(() => take(undefined)), left(() => take("a"))], [416, 1]);
  let inOneDay = 0;
  for (let hour = 0; hour < 24; hour++) {
    now += DAY / 24;
    inOneDay += left(() => take(undefined));
  }
  assertEquals(inOneDay, 10_000);
});

Deno.test("returns of browsers that began no session are decrypted 2,000 times at once, and customers go on [BR19]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const outsider = new Browser(env);
  const statuses = new Set<number>();
  for (let count = 0; count < 2000; count++) {
    const answer = await outsider.open("/BANKA/authorization.sca.oauth2?oAuthUrl=a.b.c.d.e");
    statuses.add(answer.status);
    await answer.body?.cancel();
  }
  assertEquals([...statuses], [400]);
  const answer = await outsider.open(path);
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "9"]);
  await answer.body?.cancel();
  await assertCodeAnswer(await flow.browser.open(path));
});
