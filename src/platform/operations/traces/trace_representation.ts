/** Traces on the wire (contract TRC1 to TRC6). */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import { type DocumentedReason, ERROR_HELP } from "../../guards/http/error_help.ts";
import { MAX_LISTED } from "./trace_store.ts";
import type { Trace } from "./trace.ts";

const shortText = z.string().max(500);

export const traceSchema = z.strictObject({
  InteractionId: z.uuid(),
  DateTime: z.string().openapi({ format: "date-time" }),
  Milliseconds: z.number().openapi({
    description: "From the arrival of the request's head to the response.",
  }),
  Method: shortText.openapi({ description: "`other` if the endpoint has no such method." }),
  Endpoint: shortText.openapi({
    description:
      "The path as this document has it, or `none`. `payment_orders_uri`: the platform's push of an " +
      "order to the bank, whose response decided nothing. `event_notification_uri`: its push of an event to " +
      "the TPP.",
    example: "/{bank}/domestic-payment-consents/v1",
  }),
  Status: z.int().openapi({ description: "0: a push without a response." }),
  ClientId: shortText.optional().openapi({
    description: "The client that the request authenticated or proved.",
  }),
  OrganisationId: shortText.optional(),
  Bank: shortText.optional(),
  ConsentId: shortText.optional(),
  DomesticPaymentId: shortText.optional(),
  SessionId: shortText.optional().openapi({
    description: "The authorization session: `correlation_id` of the handover JWT.",
  }),
  Check: z.array(z.strictObject({
    Name: shortText.openapi({ example: "payloadSignature" }),
    Result: z.enum(["Passed", "Failed", "NotReached"]),
  })).openapi({ description: "In order. All passed: the rejection came from the endpoint itself." }),
  Rejection: z.strictObject({
    Reason: shortText.openapi({ example: "client.not_authenticated" }),
    Message: shortText.optional().openapi({
      description: "What was wrong, expected and received. Long and personal values are cut.",
    }),
    Errors: z.array(z.strictObject({
      ErrorCode: shortText,
      Message: shortText,
      Path: shortText.optional(),
    })).optional(),
    Url: z.url().optional().openapi({ description: "Cause, expected value, example and remedy." }),
    Detail: shortText.optional().openapi({ description: "For operators." }),
  }).optional(),
  Call: z.array(z.strictObject({
    To: z.enum(["bank", "directory"]),
    Status: z.int().optional().openapi({ description: "Absent without a response." }),
    Milliseconds: z.number().optional().openapi({ description: "Absent if the call outlasted the request." }),
  })).openapi({ description: "Calls of the platform to other parties." }),
}).openapi("Trace");

export const tracesSchema = z.strictObject({
  Data: z.strictObject({ Trace: z.array(traceSchema).max(MAX_LISTED) }),
  Links: z.strictObject({ Self: z.string().openapi({ format: "uri" }) }),
  Meta: z.strictObject({}),
}).openapi("Traces");

/** Returns the address of a reason's documentation. */
export type ErrorUri = (reason: DocumentedReason) => string;

/** Represents a trace for a client that may read it. */
export function representTrace(trace: Trace, errorUri: ErrorUri): z.infer<typeof traceSchema> {
  const { rejection, checks, passed } = trace;
  return {
    InteractionId: trace.interactionId,
    DateTime: wireDateTime(trace.at),
    Milliseconds: trace.milliseconds,
    Method: trace.method,
    Endpoint: trace.route,
    Status: trace.status,
    ClientId: trace.clientId,
    OrganisationId: trace.orgId,
    Bank: trace.bank,
    ConsentId: trace.consentId,
    DomesticPaymentId: trace.paymentId,
    SessionId: trace.sessionId,
    Check: checks.map((Name, index) => ({ Name, Result: resultOf(trace, index, passed) })),
    Rejection: rejection && representRejection(rejection, errorUri),
    Call: trace.calls.map(({ to, status, milliseconds }) => ({
      To: to,
      Status: status,
      Milliseconds: milliseconds,
    })),
  };
}

/** Represents a trace for operators, with what the log has of a rejection. */
export function representTraceInFull(trace: Trace, errorUri: ErrorUri): z.infer<typeof traceSchema> {
  const { rejection } = trace;
  const told = representTrace(trace, errorUri);
  if (rejection === undefined || told.Rejection === undefined) return told;
  const full = { ...told.Rejection, Reason: rejection.reason, Detail: rejection.detail };
  return { ...told, Rejection: full };
}

function resultOf({ rejection }: Trace, index: number, passed: number): "Passed" | "Failed" | "NotReached" {
  if (index < passed || rejection === undefined) return "Passed";
  return index === passed ? "Failed" : "NotReached";
}

function representRejection(
  { reason, toldReason = reason, told, faults }: NonNullable<Trace["rejection"]>,
  errorUri: ErrorUri,
): NonNullable<z.infer<typeof traceSchema>["Rejection"]> {
  return {
    Reason: toldReason,
    Message: told,
    Errors: faults?.map(({ code, message, path }) => ({
      ErrorCode: `UK.OBIE.${code}`,
      Message: message,
      Path: path,
    })),
    Url: uriOf(toldReason, errorUri),
  };
}

function uriOf(reason: string, errorUri: ErrorUri): string | undefined {
  if (reason === "bank_return.unusable") return errorUri("bank_return.not_authentic");
  return Object.hasOwn(ERROR_HELP, reason) ? errorUri(reason as DocumentedReason) : undefined;
}
