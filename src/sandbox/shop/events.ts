/**
 * The shop's receiver of pushed events (RFC 8935). It verifies each token with the platform's keys, stores what it says
 * of an order, and acknowledges it with 202.
 */
import { decodeJwt } from "jose";
import { grantClientToken } from "../../client/tpp/authorization.ts";
import type { PaymentSeen } from "../../client/tpp/domestic_payments.ts";
import { subscribeToEvents, type TppEvent, verifyEvent } from "../../client/tpp/events.ts";
import { describeFailure } from "../../client/tpp/failure.ts";
import { openFlow } from "../../client/tpp/payment_journey.ts";
import { banks } from "./catalogue.ts";
import type { ShopDeps } from "./checkout.ts";
import type { Decided, Order } from "./orders.ts";

export interface EventReceiver {
  /** Subscribes at the bank. Has no effect if it has already succeeded. Never rejects. */
  subscribe(bank: string): Promise<void>;
  /** Answers one push. */
  receive(request: Request): Promise<Response>;
}

/**
 * An event of an order that the shop does not have stays with the platform for so long, because another program of the
 * TPP may poll for it, such as `deno task demo`. Later the shop acknowledges it: the program that made the order has
 * ended, and after 11 rejections the event would be dead and alert the operators (contract EVT12).
 */
const LEFT_TO_OTHERS_SECONDS = 60;

const DECIDED: ReadonlyMap<string, Decided> = new Map<string, Decided>([
  ["consent-authorised", "approved"],
  ["consent-rejected", "denied"],
  ["consent-expired", "denied_late"],
]);

/** @param uri the shop's `event_notification_uri` */
export function openEventReceiver(deps: ShopDeps, uri: string): EventReceiver {
  const { tpp, log } = deps;
  const flowAt = once((bank) => openFlow(tpp, bank));
  const subscribedAt = once(async (bank) => {
    const flow = await flowAt(bank);
    await subscribeToEvents(flow, await grantClientToken(flow), uri);
  });
  return {
    async subscribe(bank) {
      try {
        await subscribedAt(bank);
      } catch (error) { // the next checkout tries again
        log(`not subscribed to the events of ${bank}: ${describeFailure(error)}`);
      }
    },
    async receive(request) {
      if (request.headers.get("content-type") !== "application/secevent+jwt") {
        return rejectEvent("invalid_request", "The content type must be application/secevent+jwt.");
      }
      const set = await request.text();
      const bank = bankOf(tpp.authUrl, set);
      if (bank === undefined) return rejectEvent("invalid_issuer", "The issuer must be a bank of the shop.");
      const flow = await flowAt(bank); // a failure is answered with 500, and the event is pushed again
      try {
        return store(deps, await verifyEvent(flow, set));
      } catch (error) {
        log(`event rejected: ${describeFailure(error)}`);
        return rejectEvent("authentication_failed", "The token does not verify.");
      }
    },
  };
}

/** The bank that the token, not yet verified, names as its issuer. */
function bankOf(authUrl: string, set: string): string | undefined {
  try {
    const { iss } = decodeJwt(set);
    return banks.find(({ code }) => iss === `${authUrl}/${code}`)?.code;
  } catch {
    return undefined;
  }
}

/** Does not wait, so that no other change of the order comes between. */
function store({ orders, tpp }: ShopDeps, event: TppEvent): Response {
  const order = orders.findByConsent(event.consentId);
  if (order === undefined) {
    const isLeft = tpp.now() / 1000 < event.at + LEFT_TO_OTHERS_SECONDS;
    return isLeft ? rejectEvent("invalid_request", "The shop does not have this order.") : acknowledge();
  }
  orders.moveTo(order, stateAfter(order, event));
  return acknowledge();
}

function stateAfter({ state }: Order, event: TppEvent): Order["state"] {
  const decided = DECIDED.get(event.type);
  if (state.phase === "at_bank" && decided !== undefined) return { ...state, decided };
  if (state.phase !== "paid" || state.payment.paymentId !== event.resource) return state;
  const { payment: { paymentId, statusUpdated } } = state;
  if (event.at < Math.floor(Date.parse(statusUpdated) / 1000)) return state; // the shop has read a newer status
  const { reasonCode, reason } = event;
  const why = {
    ...(reasonCode === undefined ? {} : { reasonCode }),
    ...(reason === undefined ? {} : { reason }),
  };
  const at = new Date(event.at * 1000).toISOString();
  const payment: PaymentSeen = { paymentId, status: event.status, statusUpdated: at, ...why };
  return { ...state, payment };
}

function acknowledge(): Response {
  return new Response(null, { status: 202 });
}

/** RFC 8935 §2.3. */
function rejectEvent(err: string, description: string): Response {
  return Response.json({ err, description }, { status: 400 });
}

/** Calls `make` once for each bank, and again after a failure. */
function once<T>(make: (bank: string) => Promise<T>): (bank: string) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (bank) => {
    const known = made.get(bank) ?? make(bank);
    made.set(bank, known);
    known.catch(() => made.delete(bank));
    return known;
  };
}
