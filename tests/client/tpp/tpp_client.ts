/** A TPP's client whose requests are recorded. */
import { emptyMessageLog } from "../../../src/client/tpp/message_log.ts";
import { openFlow, type PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import { openTppEnvironment, type SeenRequest, type TppEnvironment } from "support/sandbox_tpp_platform.ts";

export async function openEnvironmentAndFlow(): Promise<{ env: TppEnvironment; flow: PaymentFlow }> {
  const env = await openTppEnvironment();
  return { env, flow: await openFlow(env.tpp, "BANKA", emptyMessageLog()) };
}

export function lastRequest({ seen }: TppEnvironment, path: string): SeenRequest {
  const request = seen.findLast((candidate) => candidate.path === path);
  if (request === undefined) throw new Error(`nothing was sent to ${path}`);
  return request;
}
