/** The declarations of the log events hold. */
import { assert, assertEquals } from "@std/assert";
import type { LogLine } from "testing/answers.ts";
import { openLog } from "../../src/base/observability/log.ts";
import { type Log, PLATFORM_EVENTS } from "../../src/platform/observed/log_events.ts";

Deno.test("every security event has its own level, which PLATFORM_LOG_LEVEL does not hide", () => {
  const names = Object.entries(PLATFORM_EVENTS).filter(([name]) => name.startsWith("security."));
  assert(names.length > 0 && names.every(([, { level }]) => level === "security"));
  const lines: string[] = [];
  const log: Log = openLog({ clock: () => 0, sink: (line) => void lines.push(line), level: "error" });
  log.info("platform.stopped");
  log.security("security.replay", { reason: "dpop.replayed" });
  assertEquals(lines.map((line) => JSON.parse(line) as LogLine), [
    { at: "1970-01-01T00:00:00.000Z", level: "security", event: "security.replay", reason: "dpop.replayed" },
  ]);
});

Deno.test("an undeclared event, level or field does not compile", () => {
  const log: Log = openLog({ clock: () => 0, sink: () => {}, level: "error" });
  // @ts-expect-error: not declared
  log.info("payment.guessed");
  // @ts-expect-error: declared at another level
  log.info("order.dead");
  // @ts-expect-error: a field that the event does not declare
  log.error("order.dead", { accountNumber: "1" });
});
