/** The queue in front of standard output: order, partial writes, failures, its bound and its count of what it dropped. */
import { assert, assertEquals } from "@std/assert";
import { type LogLine, present } from "testing/answers.ts";
import { openLogQueue } from "../../../src/base/observability/log_queue.ts";

const clock = (): number => Date.UTC(2026, 0, 1);

Deno.test("lines are written whole and in order although each write takes a few bytes and some fail", async () => {
  let written = "";
  let calls = 0;
  const queue = openLogQueue({
    clock,
    write: (bytes) => {
      if (++calls === 2) return Promise.reject(new Deno.errors.BrokenPipe("EPIPE"));
      const taken = bytes.subarray(0, 3);
      written += new TextDecoder("latin1").decode(taken);
      return Promise.resolve(taken.length);
    },
  });
  queue.sink("first");
  queue.sink("zweite Zeile: ä");
  await queue.flush(5000);
  assertEquals(
    new TextDecoder().decode(Uint8Array.from(written, (c) => c.charCodeAt(0))),
    "first\nzweite Zeile: ä\n",
  );
});

Deno.test("a stalled output never delays the caller; the queue is bounded and the loss is counted exactly", async () => {
  let written = "";
  const stalled = Promise.withResolvers<void>();
  const queue = openLogQueue({
    clock,
    write: async (bytes) => {
      await stalled.promise;
      written += new TextDecoder().decode(bytes);
      return bytes.length;
    },
  });
  const sent = 20_000;
  for (let line = 0; line < sent; line++) queue.sink(`{"line":${line},"text":"${"x".repeat(100)}"}`);
  await queue.flush(20);
  assertEquals(written, "");
  stalled.resolve();
  await queue.flush(5000);
  const lines = written.trimEnd().split("\n").map((line) => JSON.parse(line) as LogLine);
  const report = present(lines.at(-1));
  assertEquals([report.level, report.event, report.at], ["warn", "log.dropped", "2026-01-01T00:00:00.000Z"]);
  assert(lines.length > 1000 && written.length < 1_100_000, `${lines.length} lines, ${written.length}`);
  assertEquals(lines.length - 1 + Number(report.lines), sent);
  queue.sink('{"line":"after"}');
  await queue.flush(5000);
  assert(written.endsWith('{"line":"after"}\n'));
});

Deno.test("a line is written whenever it comes, also in the turns in which a write ends", async () => {
  for (let turns = 0; turns < 20; turns++) {
    const written: string[] = [];
    const queue = openLogQueue({
      clock,
      write: (bytes) => {
        if (written.push(new TextDecoder().decode(bytes)) === 1) {
          let turn = Promise.resolve();
          for (let passed = 0; passed < turns; passed++) turn = turn.then(() => {});
          void turn.then(() => queue.sink("late"));
        }
        return Promise.resolve(bytes.length);
      },
    });
    queue.sink("first");
    for (let passed = 0; passed < turns + 2; passed++) await Promise.resolve();
    await queue.flush(5000);
    assertEquals(written.join(""), "first\nlate\n", `${turns} turns after the write`);
  }
});
