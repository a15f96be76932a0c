/** What long work shows of its progress. */
import { assertEquals } from "@std/assert";
import { openProgress, progressText } from "../../../scripts/command_line/progress.ts";

/** Work whose clock the test moves, and what it has shown. */
function shownOn(
  isTerminal: boolean,
): { readonly tools: Parameters<typeof openProgress>[2]; readonly shown: string[]; clock: number } {
  const shown: string[] = [];
  const state = { clock: 0, shown };
  const tools = {
    isTerminal,
    draw: (text: string): void => void shown.push(text),
    print: (line: string): void => void shown.push(`${line}\n`),
    now: (): number => state.clock,
  };
  return Object.assign(state, { tools });
}

Deno.test("a terminal has one line of progress that is drawn again, below what the program prints", () => {
  const at = shownOn(true);
  const { shown, tools } = at;
  {
    using progress = openProgress("payments", 400, tools);
    at.clock = 1000;
    progress.done(100);
    progress.done(101); // too soon to be drawn
    progress.above(() => shown.push("kill -9\n"));
  }
  const line = "payments  100 of 400 (25 %)  100/s  0:03 left";
  assertEquals(shown, [`\r\x1b[2K${line}`, "\r\x1b[2K", "kill -9\n", line, "\r\x1b[2K"]);
});

Deno.test("without a terminal there is a plain line each half minute, and none of short work", () => {
  const at = shownOn(false);
  using progress = openProgress("entries", 4000, at.tools);
  at.clock = 29_999;
  progress.done(1000);
  progress.above(() => {});
  assertEquals(at.shown.filter((text) => text !== ""), []);
  at.clock = 30_000;
  progress.done(1000);
  at.clock = 31_000;
  progress.done(1100);
  assertEquals(at.shown.filter((text) => text !== ""), ["entries  1,000 of 4,000 (25 %)  33/s  1:30 left\n"]);
});

Deno.test("progress has the rate a second or a minute, and no time left while that is not known", () => {
  const text = (part: Partial<Parameters<typeof progressText>[1]>): string =>
    progressText("cases", { count: 0, total: 10, share: 0, seconds: 60, ...part });
  assertEquals(text({}), "cases  0 of 10 (0 %)");
  assertEquals(text({ count: 3, share: 0.3 }), "cases  3 of 10 (30 %)  3.0/min  2:20 left");
  assertEquals(text({ count: 90, total: undefined, share: undefined }), "cases  90  1.5/s");
  assertEquals(text({ count: 5, share: 0.01 }), "cases  5 of 10 (1 %)  5.0/min  1:39:00 left");
});
