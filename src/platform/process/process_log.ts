/** The log of this process, on its standard output. */
import { systemClock } from "../../base/kernel/clock.ts";
import { openLog } from "../../base/observability/log.ts";
import { type LogQueue, openLogQueue } from "../../base/observability/log_queue.ts";
import type { Log } from "../observed/log_events.ts";
import type { Runtime } from "./runtime.ts";

export interface ProcessLog {
  /** Startup and shutdown are logged at every level. */
  readonly log: Log;
  readonly queue: LogQueue;
  /** Writes the queued lines, as far as that is possible. */
  flush(): Promise<void>;
}

/** Time to write the queued lines at the end. */
const FLUSH_MS = 2000;

export function openProcessLog({ write }: Pick<Runtime, "write">): ProcessLog {
  const queue = openLogQueue({ clock: systemClock, write });
  const log: Log = openLog({ clock: systemClock, sink: queue.sink, level: "info" });
  return { log, queue, flush: () => queue.flush(FLUSH_MS) };
}
