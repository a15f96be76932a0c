/**
 * One call of a resource endpoint: DPoP-bound token, signed body, interaction id. The signature of the response is
 * verified over the received bytes before they are parsed (contract EP6 to EP10).
 */
import * as oauth from "oauth4webapi";
import type { AccessToken } from "./authorization.ts";
import { type ApiErrorResponse, readRejection } from "../party/api_error.ts";
import { readSigned, signPayload, verifyPayload } from "../party/payload_signature.ts";
import type { PaymentFlow } from "./payment_journey.ts";

/** A POST: `body` is serialised once, and those bytes are signed and sent. */
export interface SignedRequest<Body = unknown> {
  /** Path under `{base_url}/{BANK}/`. */
  readonly path: string;
  readonly body: Body;
  /** New for each request, the same for each retry of it (Decision C4). Absent at endpoints that take none. */
  readonly idempotencyKey?: string;
}

/**
 * POSTs and returns the decoded body of a 201.
 * @throws {ApiErrorResponse} for every other status. After any other error the request may have been carried out.
 */
export async function postSigned(
  flow: PaymentFlow,
  token: AccessToken,
  request: SignedRequest,
): Promise<unknown> {
  return await postSignedText(flow, token, { ...request, body: JSON.stringify(request.body) });
}

/**
 * POSTs exactly this text, as {@link postSigned} does.
 * @throws {ApiErrorResponse} for every other status than 201.
 */
export async function postSignedText(
  flow: PaymentFlow,
  token: AccessToken,
  { path, body, idempotencyKey }: SignedRequest<string>,
): Promise<unknown> {
  const headers = resourceHeaders();
  if (idempotencyKey !== undefined) headers.set("x-idempotency-key", idempotencyKey);
  headers.set("x-fapi-financial-id", flow.bank);
  headers.set(
    "x-jws-signature",
    await signPayload(flow.tpp.signer, new TextEncoder().encode(body), flow.tpp.now()),
  );
  return await send(flow, token, { method: "POST", path, headers, body, expected: 201 });
}

/**
 * POSTs a JSON text that the platform takes without a signature, and returns the decoded body of a 200.
 * @throws {ApiErrorResponse} for every other status.
 */
export async function postUnsigned(
  flow: PaymentFlow,
  token: AccessToken,
  path: string,
  body: string,
): Promise<unknown> {
  const headers = resourceHeaders();
  return await send(flow, token, { method: "POST", path, headers, body, expected: 200 });
}

/**
 * GETs and returns the decoded body of a 200.
 * @throws {ApiErrorResponse} for every other status.
 */
export async function getResource(flow: PaymentFlow, token: AccessToken, path: string): Promise<unknown> {
  return await send(flow, token, {
    method: "GET",
    path,
    headers: resourceHeaders(),
    body: null,
    expected: 200,
  });
}

interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | null;
  readonly expected: number;
}

async function send(flow: PaymentFlow, token: AccessToken, call: Call): Promise<unknown> {
  const url = new URL(`${flow.tpp.baseUrl}/${flow.bank}/${call.path}`);
  let response: Response;
  try {
    response = await oauth.protectedResourceRequest(token.value, call.method, url, call.headers, call.body, {
      DPoP: flow.dpop,
      [oauth.customFetch]: (href, { method, headers }) =>
        flow.fetch(href, { method, headers, body: call.body }),
    });
  } catch (error) {
    if (error instanceof oauth.WWWAuthenticateChallengeError) throw await readChallenge(error);
    throw error;
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status === call.expected) return await readSigned(response, bytes, flow.platformKeys);
  const signature = response.headers.get("x-jws-signature");
  if (signature !== null) await verifyPayload(signature, bytes, flow.platformKeys); // a proxy's is not signed
  throw readRejection(response, new TextDecoder().decode(bytes));
}

function resourceHeaders(): Headers {
  return new Headers({
    "accept": "application/json",
    "content-type": "application/json", // also sent on GET, although the platform does not need it
    "x-fapi-interaction-id": crypto.randomUUID(),
  });
}

async function readChallenge(error: oauth.WWWAuthenticateChallengeError): Promise<ApiErrorResponse> {
  const parameters = error.cause.map((challenge) => challenge.parameters)
    .find((candidate) => candidate["error"] !== undefined) ?? {};
  const { error: named, error_description: description } = parameters;
  return readRejection(error.response, await error.response.text(), { error: named, description });
}
