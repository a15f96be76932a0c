/**
 * Stands between the platform and the bank under test: records the bank's calls of the back channel, fails them or
 * loses their answers, and takes the platform's order pushes in the bank's place.
 */
import { decodeJwt } from "jose";
import { z } from "zod";
import type { PlatformFront } from "../../../../src/sandbox/ecosystem/ecosystem.ts";

/** A call of the back channel by the bank. */
export interface BackChannelCall {
  readonly bank: string;
  readonly method: string;
  readonly about: "auth" | "payments" | "results";
  /** The consent or payment. Of a delivered result: the bank. */
  readonly id: string;
  readonly body: string;
  readonly signature: string | undefined;
  /** How the platform answered, before anything was lost. */
  readonly status: number;
}

/** The bank's response to an order. */
export interface OrderAnswer {
  readonly status: number;
  readonly body: string;
}

/** An order that the platform pushes. */
export interface Push {
  /** Where the bank takes orders. */
  readonly url: string;
  readonly jws: string;
  /** 1 for the first push of this order. */
  readonly attempt: number;
  /** Sends a JWS to the bank as a push. */
  deliver(jws: string): Promise<OrderAnswer>;
}

/** How a push ends for the platform: with this answer, or without one. */
export type TakePush = (push: Push) => Promise<OrderAnswer | "lost">;

export interface Between {
  /** The requests to the platform's API. */
  readonly front: PlatformFront;
  /** The requests of the platform to others. */
  readonly outgoing: typeof fetch;
  /** The bank's calls about a consent or payment, or the results it has delivered, oldest first. */
  calls(id: string): readonly BackChannelCall[];
  /** Answers the bank's next call with 503; with `isLost` after the platform has processed it. */
  failNext(method: string, id: string, isLost: boolean): void;
  /** Takes all pushes of a consent's order. */
  takePushes(consentId: string, take: TakePush): void;
}

const BACK_CHANNEL =
  /^\/([^/]+)\/(?:back-channel-(auth|payments)\/v1\/([0-9a-f-]{36})|authorization-(results)\/v1)$/;
const MAX_CALLS = 2000;
const DELIVERY_MS = 15_000;

const orderSchema = z.looseObject({ Data: z.looseObject({ ConsentId: z.string() }) });

/** Opens the connections between the platform and a bank. No call fails and no push is taken at first. */
export function openBetween(): Between {
  const calls: BackChannelCall[] = [];
  const failures: { readonly method: string; readonly id: string; readonly isLost: boolean }[] = [];
  const takers = new Map<string, { readonly take: TakePush; attempts: number }>();

  async function pass(request: Request, platform: Parameters<PlatformFront["handle"]>[2]): Promise<Response> {
    const called = BACK_CHANNEL.exec(new URL(request.url).pathname);
    if (called === null) return await platform(request);
    const [, bank = "", of, id = bank, results] = called;
    const about = (of ?? results) as BackChannelCall["about"];
    const { method } = request;
    const at = failures.findIndex((failure) => failure.method === method && failure.id === id);
    const [failure] = at < 0 ? [] : failures.splice(at, 1);
    if (failure?.isLost === false) return unavailableAnswer();
    const body = await request.clone().text();
    const response = await platform(request);
    const signature = request.headers.get("x-jws-signature") ?? undefined;
    calls.push({ bank, method, about, id, body, signature, status: response.status });
    if (calls.length > MAX_CALLS) calls.shift();
    if (failure === undefined) return response;
    await response.body?.cancel();
    return unavailableAnswer();
  }

  return {
    front: { handle: (_host, request, platform) => pass(request, platform) },
    outgoing: async (input, init) => {
      const jws = typeof init?.body === "string" ? init.body : "";
      const taker = init?.method === "POST" ? takers.get(consentOf(jws) ?? "") : undefined;
      if (taker === undefined) return await fetch(input, init);
      const url = input instanceof Request ? input.url : String(input);
      taker.attempts += 1;
      const answer = await taker.take({
        url,
        jws,
        attempt: taker.attempts,
        deliver: (order) => deliver(url, order),
      });
      if (answer === "lost") throw new TypeError("the answer is lost");
      return new Response(answer.body, {
        status: answer.status,
        headers: { "content-type": "application/json" },
      });
    },
    calls: (id) => calls.filter((call) => call.id === id),
    failNext: (method, id, isLost) => void failures.push({ method, id, isLost }),
    takePushes: (consentId, take) => void takers.set(consentId, { take, attempts: 0 }),
  };
}

/** Sends an order to a bank as the platform pushes it. */
async function deliver(url: string, jws: string): Promise<OrderAnswer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/jose", accept: "application/json" },
    body: jws,
    redirect: "manual",
    signal: AbortSignal.timeout(DELIVERY_MS),
  });
  return { status: response.status, body: await response.text() };
}

function unavailableAnswer(): Response {
  const body = { error: "temporarily_unavailable" };
  return Response.json(body, { status: 503, headers: { "retry-after": "1" } });
}

function consentOf(jws: string): string | undefined {
  try {
    return orderSchema.parse(decodeJwt(jws)).Data.ConsentId;
  } catch {
    return undefined;
  }
}
