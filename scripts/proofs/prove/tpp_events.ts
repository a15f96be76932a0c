/** The events that a TPP gets while payments are made and processes are killed, fetched and acknowledged as it would. */
import { type AccessToken, grantClientToken } from "../../../src/client/tpp/authorization.ts";
import { pollEvents, type TppEvent } from "../../../src/client/tpp/events.ts";
import type { PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import { pause, persistently } from "./calls.ts";
import type { ProvedSystem } from "./system.ts";

/** Fetches events until it is told to end. */
export interface EventReader {
  /** Fetches what still waits, and returns all events in the order in which they came, each once. */
  end(): Promise<readonly TppEvent[]>;
}

/** Few, so that most polls acknowledge some events and return others. */
const MAX_EVENTS = 20;
const PAUSE_MS = 500;
/** A token lives for an hour. */
const RENEW_MS = 1_800_000;

/** Starts to fetch the events of each flow's bank. */
export function startEventReader(sandbox: ProvedSystem, flows: readonly PaymentFlow[]): EventReader {
  let ending = false;
  const received = new Map<string, TppEvent>();
  const reading = flows.map(async (flow) => {
    let [token, grantedAt] = [await grant(sandbox, flow), Date.now()];
    let ack: readonly string[] = [];
    while (true) {
      const isLast = ending;
      if (Date.now() - grantedAt > RENEW_MS) [token, grantedAt] = [await grant(sandbox, flow), Date.now()];
      const events = await poll(sandbox, flow, token, ack);
      for (const event of events) if (!received.has(event.jti)) received.set(event.jti, event);
      ack = events.map(({ jti }) => jti);
      if (isLast && events.length === 0) return;
      if (events.length === 0) await pause(PAUSE_MS);
    }
  });
  const all = Promise.all(reading);
  all.catch(() => {}); // its failure is that of `end`
  return {
    async end() {
      ending = true;
      await all;
      return [...received.values()];
    },
  };
}

function grant(sandbox: ProvedSystem, flow: PaymentFlow): Promise<AccessToken> {
  return persistently(sandbox, () => grantClientToken(flow));
}

async function poll(
  sandbox: ProvedSystem,
  flow: PaymentFlow,
  token: AccessToken,
  ack: readonly string[],
): Promise<readonly TppEvent[]> {
  const request = { ack, maxEvents: MAX_EVENTS, returnImmediately: true };
  return (await persistently(sandbox, () => pollEvents(flow, token, request))).events;
}
