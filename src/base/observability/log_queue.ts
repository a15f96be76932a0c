/**
 * Log lines on their way to standard output. The reader of that pipe may stall or go away, and no request may wait for
 * it: lines are queued up to a bound, written by one asynchronous write at a time, and dropped and counted beyond it.
 */
import type { Clock } from "../kernel/clock.ts";
import { formatLine, type LogSink } from "./log.ts";

/** A queue in front of an output. */
export interface LogQueue {
  /** Queues a line. Never blocks and never throws. */
  readonly sink: LogSink;
  /** Resolves when every queued line is written, at the latest after `withinMs` milliseconds. */
  flush(withinMs: number): Promise<void>;
}

/** What is queued at most, UTF-16 code units: some thousand lines. */
const MAX_QUEUED = 1_048_576;
/** An output that fails (a closed pipe, EAGAIN of a pipe shared with another process) is tried again after this. */
const RETRY_MS = 1000;

/**
 * Opens a queue.
 *
 * @param deps.write writes some of the bytes and resolves with their number, as `Deno.stdout.write` does
 */
export function openLogQueue(
  deps: { readonly clock: Clock; readonly write: (bytes: Uint8Array) => Promise<number> },
): LogQueue {
  const encoder = new TextEncoder();
  let lines: string[] = [];
  let queued = 0;
  let dropped = 0;
  let writing: Promise<void> | undefined;

  async function writeQueued(): Promise<void> {
    while (lines.length > 0) {
      const text = `${lines.join("\n")}\n`;
      lines = [];
      await writeWhole(deps.write, encoder.encode(text));
      queued -= text.length;
      if (dropped > 0) enqueue(formatLine(deps.clock, "warn", "log.dropped", { lines: dropped }));
      dropped = 0;
    }
  }

  function enqueue(line: string): void {
    lines.push(line);
    queued += line.length + 1;
  }

  return {
    sink(line) {
      if (queued + line.length >= MAX_QUEUED) return void (dropped += 1);
      enqueue(line);
      writing ??= writeQueued().finally(() => void (writing = undefined));
    },
    async flush(withinMs) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => void (timer = setTimeout(resolve, withinMs)));
      await Promise.race([writing, late]).finally(() => clearTimeout(timer));
    },
  };
}

async function writeWhole(write: (bytes: Uint8Array) => Promise<number>, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) {
    const written = await write(rest).catch(() => 0);
    rest = rest.subarray(written);
    if (written === 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
