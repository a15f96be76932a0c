/**
 * Sends an edited request to the sandbox's platform through its TLS front door. It adds what a developer cannot type:
 * client assertion, DPoP proof, payload signature. The target is always the sandbox's own platform.
 */
import * as oauth from "oauth4webapi";
import { z } from "zod";
import { type AccessToken, checkCallback, grantClientToken } from "../../client/tpp/authorization.ts";
import { describeFailure } from "../../client/tpp/failure.ts";
import { emptyMessageLog, recordingFetch } from "../../client/tpp/message_log.ts";
import { openFlow, type PaymentFlow } from "../../client/tpp/payment_journey.ts";
import type { PaymentRequest } from "../../client/tpp/payment_request.ts";
import { getResource, postSignedText, postUnsigned } from "../../client/tpp/resource_request.ts";
import type { Tpp } from "../../client/tpp/tpp.ts";
import type { Operation } from "./operations.ts";
import { readTraces } from "./trace.ts";
import type { Attempt, Fields, Walk } from "./walk.ts";

/** A mistake in the form: nothing was sent. The message is for the developer. */
class FormFault extends Error {}

/** Sends requests of one participant. */
export interface Sender {
  /** Sends the request and notes in the walk what it made. Never throws. */
  send(walk: Walk, bank: string, operation: Operation, fields: Fields): Promise<Attempt>;
  /** Takes the customer's return. @throws {Error} if it was not meant for this walk */
  takeReturn(walk: Walk, bank: string, callback: URL): Promise<void>;
}

interface Call {
  readonly flow: PaymentFlow;
  readonly walk: Walk;
  readonly operation: Operation;
  readonly fields: Fields;
}

/** Opens what requests need once: the metadata of each bank, and tokens that read traces. */
interface Links {
  flowOf(bank: string): Promise<PaymentFlow>;
  tokenForTraces(flow: PaymentFlow): Promise<AccessToken>;
}

/** A token that expires sooner is replaced, milliseconds. */
const TOKEN_MARGIN_MS = 30_000;

export function openSender(tpp: Tpp): Sender {
  const links = openLinks(tpp);
  return {
    send: (walk, bank, operation, fields) => sendOne(tpp, links, bank, { walk, operation, fields }),
    async takeReturn(walk, bank, callback) {
      if (walk.pending === undefined) throw new FormFault("No authorization request waits for this return.");
      walk.returned = checkCallback(await links.flowOf(bank), walk.pending, callback);
    },
  };
}

function openLinks(tpp: Tpp): Links {
  const flows = new Map<string, PaymentFlow>();
  const tokens = new Map<string, AccessToken>();
  return {
    async flowOf(bank) {
      const flow = flows.get(bank) ?? await openFlow(tpp, bank);
      flows.set(bank, flow);
      return flow;
    },
    async tokenForTraces(flow) {
      const kept = tokens.get(flow.bank);
      const isUsable = kept !== undefined && kept.expiresAt - tpp.now() > TOKEN_MARGIN_MS;
      const token = isUsable ? kept : await grantClientToken(flow);
      tokens.set(flow.bank, token);
      return token;
    },
  };
}

async function sendOne(tpp: Tpp, links: Links, bank: string, call: Omit<Call, "flow">): Promise<Attempt> {
  const { fields } = call;
  const messages = emptyMessageLog();
  try {
    const flow = await links.flowOf(bank);
    const recorded = { ...flow, fetch: recordingFetch(tpp.fetch, messages, tpp.now) };
    const failure = await attempt({ ...call, flow: recorded });
    const exchange = messages.exchanges.at(-1);
    const isRejected = (exchange?.response?.status ?? 0) >= 400; // the answer says why
    const fault = failure === undefined || isRejected ? undefined : describeFailure(failure);
    const interactionId = interactionIdOf(exchange);
    const traces = interactionId === undefined ? [] : await tracesOf(links, flow, interactionId);
    return { fields, exchange, fault, interactionId, traces };
  } catch (error) {
    return { fields, exchange: messages.exchanges.at(-1), fault: describeFailure(error), traces: [] };
  }
}

/** Without a token for them, such as one with wrong keys gets, the page has the link to the trace alone. */
async function tracesOf(links: Links, flow: PaymentFlow, interactionId: string): Promise<Attempt["traces"]> {
  const token = await links.tokenForTraces(flow).catch(() => undefined);
  return token === undefined ? [] : await readTraces(flow, token, interactionId);
}

async function attempt(call: Call): Promise<unknown> {
  try {
    await (call.operation.body === "form" ? sendForm(call) : sendResource(call));
    return undefined;
  } catch (error) {
    return error;
  }
}

function interactionIdOf(exchange: Attempt["exchange"]): string | undefined {
  return exchange?.response?.headers.find(([name]) => name === "x-fapi-interaction-id")?.[1];
}

async function sendForm(call: Call): Promise<void> {
  const { walk, operation, fields: { body } } = call;
  const secrets = await secretsOf(call);
  const form = new URLSearchParams(
    pairsOf(body).map(([name, value]) => [name, value.replaceAll(/\$[A-Z]+/g, (one) => secrets[one] ?? one)]),
  );
  if (operation.id === "pushAuthorizationRequest") return await push(call, form, secrets);
  const { flow: { server, client, authenticate, dpop, fetch, tpp } } = call;
  const grant = form.get("grant_type") ?? "";
  if (grant === "") {
    throw new FormFault("grant_type is missing. Expected the line grant_type=client_credentials.");
  }
  form.delete("grant_type");
  const response = await oauth.genericTokenEndpointRequest(server, client, authenticate, grant, form, {
    DPoP: dpop,
    [oauth.customFetch]: fetch,
  });
  const token = await oauth.processGenericTokenEndpointResponse(server, client, response);
  const expiresInSeconds = token.expires_in ?? 0;
  const kind = grant === "authorization_code" ? grant : "client_credentials";
  walk.tokens.set(kind, {
    value: token.access_token,
    expiresInSeconds,
    expiresAt: tpp.now() + expiresInSeconds * 1000,
  });
  if (kind === "client_credentials") return;
  delete walk.returned;
  delete walk.pending;
}

async function push(
  { flow: { server, client, authenticate, fetch }, walk }: Call,
  form: URLSearchParams,
  { $STATE: state = "", $VERIFIER: codeVerifier = "" }: Readonly<Record<string, string>>,
): Promise<void> {
  const response = await oauth.pushedAuthorizationRequest(server, client, authenticate, form, {
    [oauth.customFetch]: fetch,
  });
  const pushed = await oauth.processPushedAuthorizationResponse(server, client, response);
  const url = new URL(server.authorization_endpoint ?? "");
  url.searchParams.set("client_id", client.client_id);
  url.searchParams.set("request_uri", pushed.request_uri);
  walk.pending = {
    state: form.get("state") ?? state,
    codeVerifier,
    requestUri: pushed.request_uri,
    expiresInSeconds: pushed.expires_in,
    url: url.href,
  };
}

/** The values of the variables in a form, so that no page shows a code or a verifier. */
async function secretsOf(
  { walk: { pending, returned }, operation, flow }: Call,
): Promise<Readonly<Record<string, string>>> {
  if (operation.id !== "pushAuthorizationRequest") {
    return { $CODE: returned?.get("code") ?? "", $VERIFIER: pending?.codeVerifier ?? "" };
  }
  const verifier = oauth.generateRandomCodeVerifier();
  return {
    $VERIFIER: verifier,
    $CHALLENGE: await oauth.calculatePKCECodeChallenge(verifier),
    $STATE: oauth.generateRandomState(),
    $JKT: await flow.dpop.calculateThumbprint(),
  };
}

/** @throws {FormFault} for a line of another form */
function pairsOf(lines: string): [name: string, value: string][] {
  return lines.split("\n").filter((line) => line.trim() !== "").map((line, place) => {
    const at = line.indexOf("=");
    if (at < 1) throw new FormFault(`Line ${place + 1} is not a parameter. Expected name=value.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
}

async function sendResource(call: Call): Promise<void> {
  const { flow, walk, operation, fields } = call;
  const token = walk.tokens.get(fields.token);
  if (token === undefined) {
    throw new FormFault(`There is no token of the ${fields.token} grant yet. Get one first.`);
  }
  const path = pathOf(operation, fields);
  if (operation.body === "unsigned") return void await postUnsigned(flow, token, path, fields.body);
  if (operation.body === undefined) return void await getResource(flow, token, path);
  const key = operation.hasKey === true && fields.key !== "" ? { idempotencyKey: fields.key } : {};
  note(call, await postSignedText(flow, token, { path, body: fields.body, ...key }));
}

function pathOf({ path, query }: Operation, fields: Fields): string {
  if (path.includes("{id}") && !/^[\w-]{1,64}$/.test(fields.id)) {
    throw new FormFault("The id is not one. Expected letters, digits and hyphens.");
  }
  const parameters = query === undefined ? "" : new URLSearchParams(pairsOf(fields.query)).toString();
  return path.replace("{id}", fields.id) + (parameters === "" ? "" : `?${parameters}`);
}

const made = z.object({
  Data: z.object({ ConsentId: z.string().optional(), DomesticPaymentId: z.string().optional() }),
});

/** Remembers what the request made, for the next ones. */
function note({ walk, operation, fields }: Call, answer: unknown): void {
  const { ConsentId: id, DomesticPaymentId: paymentId } = made.parse(answer).Data;
  if (paymentId !== undefined) walk.paymentId = paymentId;
  if (operation.id !== "createDomesticPaymentConsent" || id === undefined) return;
  const { Data: { Initiation: initiation }, Risk: risk } = JSON.parse(fields.body) as {
    readonly Data: { readonly Initiation: PaymentRequest["initiation"] };
    readonly Risk: PaymentRequest["risk"];
  };
  walk.consent = { id, request: { initiation, risk } };
}
