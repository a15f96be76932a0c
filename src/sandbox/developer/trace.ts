/** What the platform did with a request, read as every TPP can read it (contract TRC3). */
import * as oauth from "oauth4webapi";
import { z } from "zod";
import type { AccessToken } from "../../client/tpp/authorization.ts";
import type { PaymentFlow } from "../../client/tpp/payment_journey.ts";

const trace = z.object({
  Method: z.string(),
  Endpoint: z.string(),
  Status: z.number(),
  Milliseconds: z.number(),
  Check: z.array(z.object({ Name: z.string(), Result: z.enum(["Passed", "Failed", "NotReached"]) })),
  Rejection: z.object({
    Reason: z.string(),
    Message: z.string().optional(),
    Errors: z.array(z.object({ Message: z.string(), Path: z.string().optional() })).optional(),
    Url: z.string().optional(),
  }).optional(),
});
const answer = z.object({ Data: z.object({ Trace: z.array(trace) }) });

/** The trace of one request. */
export type Trace = z.infer<typeof trace>;

/**
 * Reads the traces of a request.
 *
 * @param token of the client credentials grant
 * @returns none if the request was not the client's, or is not stored yet
 */
export async function readTraces(
  flow: PaymentFlow,
  token: AccessToken,
  interactionId: string,
): Promise<readonly Trace[]> {
  const url = new URL(`${flow.tpp.baseUrl}/traces/v1/${encodeURIComponent(interactionId)}`);
  try {
    const response = await oauth.protectedResourceRequest(token.value, "GET", url, new Headers(), null, {
      DPoP: flow.dpop,
      [oauth.customFetch]: (href, { method, headers }) => flow.fetch(href, { method, headers }),
    });
    return response.ok ? answer.parse(await response.json()).Data.Trace : [];
  } catch {
    return []; // the page then has the link to the trace alone
  }
}
