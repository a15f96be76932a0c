/**
 * The platform's outgoing requests, to the directory, to the banks' order addresses and to the receivers of events, over
 * a network that loses messages.
 */
import { endTimeLimit } from "./globals.ts";
import { claimsOf } from "./jwts.ts";
import { DIRECTORY } from "./parties.ts";
import type { PlatformProcess } from "./platform_process.ts";
import type { Simulation } from "./simulation.ts";

/** The media type of a pushed event. */
const EVENT = "application/secevent+jwt";

/** A request as an outside server sees it. */
export interface Incoming {
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
}

/** An answer of an outside server. */
export interface Outgoing {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The servers outside; undefined: the address does not answer. */
export type Outside = (request: Incoming) => Promise<Outgoing | undefined>;

/** `fetch` for one process. A dead process gets no answer, but what it sent arrives. */
export function outgoingFetch(
  simulation: Simulation,
  process: PlatformProcess,
  outside: Outside,
): typeof fetch {
  const random = simulation.random(`outgoing of process ${process.number}`);
  const { scheduler } = simulation;
  const fails = (): boolean => random.below(1000) < (simulation.fault("network")?.lost ?? 0);
  const latency = (): number =>
    random.below(1000) < (simulation.fault("network")?.late ?? 0) ? random.below(8000) : 1 + random.below(30);
  function exchange(request: Incoming, answer: (outgoing: Outgoing) => void): void {
    if (fails()) return; // lost on the way there
    scheduler.after(latency(), async () => {
      const answered = await outside(request);
      if (answered === undefined || fails()) return; // lost on the way back
      scheduler.after(latency(), () => process.isAlive() && answer(answered));
    });
  }
  const simulated = (input: string | URL | Request, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      if (!process.isAlive()) return;
      const request = {
        url: new URL(String(input)),
        headers: new Headers(init.headers),
        body: String(init.body ?? ""),
      };
      const ended = watchPush(simulation, process, request);
      init.signal?.addEventListener("abort", () => {
        ended();
        if (request.url.origin === DIRECTORY) simulation.missedDirectory = true;
        if (process.isAlive()) reject(init.signal?.reason);
      });
      exchange(request, ({ status, body, headers }) => {
        if (init.signal) endTimeLimit(init.signal);
        ended(status);
        resolve(
          new Response(status === 304 ? null : body, {
            status,
            ...(headers === undefined ? {} : { headers }),
          }),
        );
      });
    });
  return simulated as typeof fetch;
}

/** Watches a push of an order or an event. The result is called when it ends, with the status of its answer. */
function watchPush(
  simulation: Simulation,
  process: PlatformProcess,
  request: Incoming,
): (status?: number) => void {
  if (request.headers.get("content-type") !== EVENT) return watchOrder(simulation, process, request);
  simulation.note(`process ${process.number} pushes an event`);
  const end = simulation.events.pushed(request.body);
  let isUnderWay = true;
  const ended = (status?: number): void => {
    if (isUnderWay) end(status); // an answer may come after the time limit
    isUnderWay = false;
    forget();
  };
  const forget = process.onDeath(ended);
  return ended;
}

/** Checks that only one push of an order runs at a time, unless the clocks of two processes differ. */
function watchOrder(simulation: Simulation, process: PlatformProcess, { body }: Incoming): () => void {
  if (body === "") return () => {};
  const { DomesticPaymentId: id } = claimsOf(body)["Data"] as { readonly DomesticPaymentId?: string };
  if (id === undefined) return () => {}; // an inquiry, not an order
  simulation.note(`process ${process.number} pushes ${id}`);
  if (simulation.pushing.has(id) && !simulation.clocksDiffer()) {
    simulation.violated("one push at a time", `${id} was pushed while another push of it was under way`);
  }
  simulation.pushing.add(id);
  const ended = (): void => {
    simulation.pushing.delete(id);
    forget();
  };
  const forget = process.onDeath(ended);
  return ended;
}
