/**
 * A thread that requests pages at a fixed rate, whether or not they are answered, so that a slow server gets no relief.
 * It receives a port. On it, it takes `{urls, perSecond}` and answers `"felt"` once the server has answered some
 * requests; it takes `"stop"` and answers with the results once every request has ended.
 */

/** Results of the flood. */
export interface FloodSeen {
  readonly sent: number;
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<number, number>>;
}

/** Limits the memory of this thread: a server this far behind is overloaded. */
const MAX_UNANSWERED = 150;
const TICK_MS = 50;
/** Number of responses after which the flood counts as started. */
const FELT = 10;

interface Order {
  readonly urls: readonly string[];
  readonly perSecond: number;
}

let port: MessagePort | undefined;
let timer: ReturnType<typeof setInterval> | undefined;
let sent = 0;
let answered = 0;
let statuses: Record<number, number> = {};
const underWay = new Set<Promise<void>>();

addEventListener("message", (event) => {
  if (!(event instanceof MessageEvent)) return;
  port = event.ports[0];
  if (port !== undefined) port.onmessage = ({ data }: MessageEvent<Order | "stop">): void => obey(data);
}, { once: true });

function obey(data: Order | "stop"): void {
  if (data === "stop") return void stop();
  const { urls, perSecond } = data;
  const began = performance.now();
  sent = answered = 0;
  statuses = {};
  timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * perSecond;
    for (; sent < due; sent++) if (underWay.size < MAX_UNANSWERED) ask(urls[sent % urls.length] ?? "");
  }, TICK_MS);
}

async function stop(): Promise<void> {
  clearInterval(timer);
  await Promise.all(underWay);
  port?.postMessage({ sent, statuses });
}

function ask(url: string): void {
  const request = (async () => {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    if (++answered === FELT) port?.postMessage("felt");
  })().catch(() => {}).finally(() => underWay.delete(request));
  underWay.add(request);
}
