/** Writes `docs/operations/log-events.md`. `deno task log-events` formats it afterwards. */
import { logEventsDocument } from "./log_events_document.ts";

if (import.meta.main) {
  const path = new URL("../../../docs/operations/log-events.md", import.meta.url);
  await Deno.writeTextFile(path, logEventsDocument());
}
