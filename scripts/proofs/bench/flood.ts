/** A thread that sends ready requests at a fixed rate, whether or not they are answered. Takes an order with a port, on which it answers what it saw. */

/** A request that is signed already. */
export interface ReadyRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: [string, string][];
}

/** The requests to send and their rate. */
export interface FloodOrder {
  readonly requests: readonly ReadyRequest[];
  readonly perSecond: number;
  /** Requests that are not answered yet: no more than these. */
  readonly connections: number;
}

/** The responses to a flood. */
export interface FloodSeen {
  readonly seconds: number;
  /** How often each status was answered; 0 counts connections that failed. */
  readonly statuses: Readonly<Record<number, number>>;
}

const TICK_MS = 10;

async function flood({ requests, perSecond, connections }: FloodOrder): Promise<FloodSeen> {
  const statuses: Record<number, number> = {};
  const underWay = new Set<Promise<void>>();
  const began = performance.now();
  for (let sent = 0; sent < requests.length;) {
    const due = Math.min(requests.length, ((performance.now() - began) / 1000) * perSecond);
    for (; sent < due && underWay.size < connections; sent++) {
      const [ready] = requests.slice(sent, sent + 1);
      if (ready === undefined) break;
      const request = ask(ready, statuses).finally(() => underWay.delete(request));
      underWay.add(request);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(underWay);
  return { seconds: (performance.now() - began) / 1000, statuses };
}

async function ask({ url, ...init }: ReadyRequest, statuses: Record<number, number>): Promise<void> {
  const answer = await fetch(url, { ...init, redirect: "manual" }).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  const status = answer?.status ?? 0;
  statuses[status] = (statuses[status] ?? 0) + 1;
}

addEventListener("message", (event) => {
  if (!(event instanceof MessageEvent)) return;
  const { data, ports: [port] } = event as MessageEvent<FloodOrder>;
  void flood(data).then((seen) => port?.postMessage(seen));
}, { once: true });
