/**
 * Queues log lines for standard output. The reader of that pipe may stall or disappear, and no request may wait for
 * it. Lines are queued up to a limit and written by one asynchronous write at a time. Lines beyond the limit are
 * dropped and counted.
 */
import { awaitFor } from "../kernel/await_for.ts";
import type { Clock } from "../kernel/clock.ts";
import { formatLine, type LogSink } from "./log.ts";

export interface LogState {
  /** Number of lines dropped since the start. */
  readonly dropped: number;
  /** The error of the last write; absent if it succeeded. */
  readonly fault?: string;
  /** Whether `log.dropped` has reported all dropped lines. */
  readonly reported: boolean;
}

export interface LogQueue {
  /** Queues a line. Never blocks and never throws. */
  readonly sink: LogSink;
  /** Resolves when every queued line is written, at the latest after `withinMs` milliseconds. */
  flush(withinMs: number): Promise<void>;
  state(): LogState;
}

/** Limit of the queue, UTF-16 code units: some thousand lines. */
const MAX_QUEUED = 1_048_576;
/** Delay before the retry of a failed write (a closed pipe, EAGAIN of a pipe shared with another process). */
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
  const output = openOutput(deps.write);
  let lines: string[] = [];
  let queued = 0;
  let dropped = 0;
  let reported = 0;
  let writing: Promise<void> | undefined;

  async function writeQueued(): Promise<void> {
    while (lines.length > 0) {
      const text = `${lines.join("\n")}\n`;
      lines = [];
      await output.writeWhole(encoder.encode(text));
      queued -= text.length;
      if (dropped > reported) {
        enqueue(formatLine(deps.clock, "warn", "log.dropped", { lines: dropped - reported }));
      }
      reported = dropped;
    }
    writing = undefined; // in the turn of the last look at the queue: a line that comes now starts another write
  }

  function enqueue(line: string): void {
    lines.push(line);
    queued += line.length + 1;
  }

  return {
    sink(line) {
      if (queued + line.length >= MAX_QUEUED) return void (dropped += 1);
      enqueue(line);
      writing ??= writeQueued();
    },
    flush: (withinMs) => awaitFor(withinMs, Promise.resolve(writing), () => {}),
    state: () => ({ dropped, reported: dropped === reported, ...output.state() }),
  };
}

/** An output that retries until all bytes are written. */
interface Output {
  writeWhole(bytes: Uint8Array): Promise<void>;
  state(): Pick<LogState, "fault">;
}

function openOutput(write: (bytes: Uint8Array) => Promise<number>): Output {
  let fault: string | undefined;
  const attempt = async (bytes: Uint8Array): Promise<number> => {
    try {
      const written = await write(bytes);
      fault = undefined;
      return written;
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
      return 0;
    }
  };
  return {
    async writeWhole(bytes) {
      for (let rest = bytes; rest.length > 0;) {
        const written = await attempt(rest);
        rest = rest.subarray(written);
        if (written === 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    },
    state: () => fault === undefined ? {} : { fault },
  };
}
