/** A bank that pulls its orders. */
import { assertEquals } from "@std/assert";
import type { BanksEnvironment } from "support/banks_environment.ts";

export const ACCEPTED = "AcceptedSettlementInProcess";

export const PULLING = { pullEveryMs: 4000 };

/** One round of every bank's pulling. */
export async function pull(env: BanksEnvironment): Promise<void> {
  const rounds = env.timers.filter(({ delayMs }) => delayMs === 4000);
  for (const round of rounds) env.timers.splice(env.timers.indexOf(round), 1);
  assertEquals(rounds.length, 2);
  await Promise.all(rounds.map(({ task }) => task()));
}
