/** `/traces/v1` (contract TRC1 to TRC6): what the platform did with the requests of a participant. */
import { createRoute, z } from "@hono/zod-openapi";
import { asConsentId, asPaymentId, type ClientId, isUuid } from "../../../base/kernel/identifiers.ts";
import { ApiError, type Fault } from "../../../base/kernel/api_error.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { resourceAnswer, resourceErrors } from "../../guards/http/openapi_answers.ts";
import { accessTokenOf, resourceHeaders } from "../../guards/http/openapi_parameters.ts";
import { TRACES_PATH } from "../../config/paths.ts";
import { firstReads, type Requirement } from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import type { Trace } from "./trace.ts";
import type { TraceQueue } from "./trace_queue.ts";
import { type ErrorUri, representTrace, tracesSchema } from "./trace_representation.ts";
import { MAX_LISTED, REJECTED, type TraceStore } from "./trace_store.ts";

export interface TraceRouteDeps {
  readonly guards: ResourceGuards;
  readonly traces: TraceStore;
  readonly traceQueue: Pick<TraceQueue, "write">;
  readonly baseUrl: string;
  readonly errorUri: ErrorUri;
}

/** A trace belongs to a client, not to a bank. */
const CLIENT: Requirement = { scope: "any", grants: ["client_credentials"], bank: "any" };
const tags = ["Traces"];
const security = [...accessTokenOf("payments"), ...accessTokenOf("bank")];
const found = resourceAnswer(`At most ${MAX_LISTED} traces, newest first`, tracesSchema);

const readTraceRoute = createRoute({
  method: "get",
  path: `${TRACES_PATH}/{interactionId}`,
  tags,
  operationId: "getTraces",
  summary: "Read what the platform did with a request",
  description:
    "By the `x-fapi-interaction-id` of its answer, or the number on a customer's error page. For a token of the " +
    "client credentials grant, of any bank. Also has the steps of your customers' browsers and, for a bank, the " +
    "returns of customers with your result JWT. Another participant's id is answered like one that does not exist.",
  security,
  request: {
    params: z.object({ interactionId: z.uuid() }),
    headers: resourceHeaders,
  },
  responses: { 200: found, ...resourceErrors() },
});

const listTracesRoute = createRoute({
  method: "get",
  path: TRACES_PATH,
  tags,
  operationId: "listTraces",
  summary: "List the traces of a consent, of a payment, or of rejected requests",
  description:
    "Send exactly one of the parameters. For a token of the client credentials grant, of any bank.",
  security,
  request: {
    query: z.object({
      consent_id: z.uuid().optional(),
      payment_id: z.uuid().optional(),
      rejected: z.literal("true").optional(),
    }),
    headers: resourceHeaders,
  },
  responses: { 200: found, ...resourceErrors() },
});

export function traceRoutes(deps: TraceRouteDeps): readonly PlatformEndpoint[] {
  const { certificate, limit, token } = deps.guards;
  const checks = [certificate, limit("reads"), firstReads(), token(CLIENT), fapiHeaders] as const;
  return [
    endpoint("resource", "participant", readTraceRoute, checks, async (c) => {
      const id = c.req.param("interactionId");
      const traces = isUuid(id) ? await tracesOf(deps, id, c.get("access").caller.clientId) : [];
      if (traces.length === 0) throw noTrace(); // contract TRC3
      return c.json(represent(deps, traces, `/${id}`));
    }),
    endpoint("resource", "participant", listTracesRoute, checks, async (c) => {
      const { name, text, subject } = readSubject(c.req.queries());
      const traces = await deps.traces.about(c.get("access").caller.clientId, subject);
      return c.json(represent(deps, traces, `?${new URLSearchParams({ [name]: text })}`));
    }),
  ];
}

/** A trace that this process has still to store is stored now, for a caller who reads what it has just done. */
async function tracesOf(
  { traces, traceQueue }: TraceRouteDeps,
  id: string,
  clientId: ClientId,
): Promise<readonly Trace[]> {
  const stored = await traces.byInteraction(id, clientId);
  if (stored.traces.length > 0) return stored.traces;
  await traceQueue.write();
  return (await traces.byInteraction(id, clientId)).traces;
}

function noTrace(): ApiError {
  const message =
    "No trace: the id must be the x-fapi-interaction-id of a response to your client, after its certificate " +
    "and token or assertion were verified, and not older than traces are kept.";
  return new ApiError("resource.not_found", { faults: [{ code: "Resource.NotFound", message }] });
}

function represent(
  { baseUrl, errorUri }: TraceRouteDeps,
  traces: readonly Trace[],
  rest: string,
): z.infer<typeof tracesSchema> {
  return {
    Data: { Trace: traces.map((trace) => representTrace(trace, errorUri)) },
    Links: { Self: `${baseUrl}${TRACES_PATH}${rest}` },
    Meta: {},
  };
}

const SUBJECTS: Readonly<Record<string, (text: string) => string | undefined>> = {
  consent_id: asConsentId,
  payment_id: asPaymentId,
  rejected: (text) => text === "true" ? REJECTED : undefined,
};

/** @throws {ApiError} `resource.invalid_fields` */
function readSubject(
  query: Readonly<Record<string, string[]>>,
): { readonly name: string; readonly text: string; readonly subject: string } {
  const [[name = "", [text = "", ...more] = []] = [], ...others] = Object.entries(query);
  const known = Object.hasOwn(SUBJECTS, name) && more.length === 0 && others.length === 0;
  const subject = known ? SUBJECTS[name]?.(text) : undefined;
  if (subject !== undefined) return { name, text, subject };
  const path = known ? name : "query";
  const message = known
    ? `${name} must be ${name === "rejected" ? "true" : "a UUID"}.`
    : "Send exactly one of consent_id, payment_id and rejected, once.";
  const fault: Fault = { code: known ? "Field.Invalid" : "Field.Expected", path, message };
  throw new ApiError("resource.invalid_fields", { faults: [fault] });
}
