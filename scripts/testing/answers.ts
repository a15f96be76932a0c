/**
 * The bodies of answers, from the schemas that the OpenAPI documents publish. A test environment validates every answer
 * against its document (`described_platform.ts`), so an answer holds what its type here says.
 */
import type { JWK } from "jose";
import type { z } from "zod";
import type { certificatesAdded, statement } from "../../src/directory/http/answer_schema.ts";
import type { consentDetailsSchema } from "../../src/platform/core/backchannel/consent_details_representation.ts";
import type { payerAccountsSchema } from "../../src/platform/core/backchannel/payer_accounts_schema.ts";
import type {
  consentSchema,
  consentsSchema,
  createdConsentSchema,
  fundsConfirmationSchema,
} from "../../src/platform/core/consents/consent_representation.ts";
import type { pollResponseSchema } from "../../src/platform/events/poll_schema.ts";
import type { replayResponseSchema } from "../../src/platform/events/routes.ts";
import type {
  subscriptionSchema,
  subscriptionsSchema,
} from "../../src/platform/events/subscription_schema.ts";
import type {
  oauthErrorSchema,
  resourceErrorSchema,
} from "../../src/platform/guards/http/openapi_answers.ts";
import type { pushResponseSchema } from "../../src/platform/core/oauth/token_request_schema.ts";
import type { tokenResponseSchema } from "../../src/platform/core/oauth/token_response.ts";
import type {
  paymentOrderSchema,
  paymentOrdersSchema,
} from "../../src/platform/core/payments/payment_order_representation.ts";
import type { paymentSchema } from "../../src/platform/core/payments/payment_representation.ts";
import type { clientRepresentationSchema } from "../../src/platform/core/registration/client_representation.ts";
import type { tracesSchema } from "../../src/platform/operations/traces/trace_representation.ts";

/** The faults of a bank of the sandbox. */
export interface ArmedFaults {
  readonly armed: readonly { readonly fault: string; readonly times?: number }[];
  readonly by_amount: readonly { readonly amount: string; readonly fault: string }[];
}
/** The clock of the sandbox. */
export interface SandboxTime {
  readonly now: string;
  readonly ahead_seconds: number;
}
export type Consent = z.infer<typeof consentSchema>;
export type ConsentDetails = z.infer<typeof consentDetailsSchema>;
export type ConsentList = z.infer<typeof consentsSchema>;
export type CreatedConsent = z.infer<typeof createdConsentSchema>;
export type PaymentReceipt = { readonly Data: { readonly Receipt: string } };
/** The part of an OpenAPI document that tests read. */
export interface OpenApi {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
    readonly parameters: Readonly<Record<string, OpenApiParameter>>;
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly scheme?: string }>>;
  };
}
export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly servers: readonly { readonly url: string }[];
  readonly security?: readonly object[];
  readonly tags?: readonly string[];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}
export interface OpenApiParameter {
  readonly $ref?: string;
  readonly in?: string;
  readonly name?: string;
}
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly allOf?: readonly OpenApiSchema[];
  readonly anyOf?: readonly OpenApiSchema[];
}
export type EventPage = z.infer<typeof pollResponseSchema>;
export type FundsConfirmation = z.infer<typeof fundsConfirmationSchema>;
export type OAuthError = z.infer<typeof oauthErrorSchema>;
export type PayerAccounts = z.infer<typeof payerAccountsSchema>;
export type Payment = z.infer<typeof paymentSchema>;
export type PaymentOrder = z.infer<typeof paymentOrderSchema>;
export type PaymentOrders = z.infer<typeof paymentOrdersSchema>;
export type PlatformKeys = { readonly keys: (JWK & { readonly kid: string; readonly use: "enc" | "sig" })[] };
export type PushedRequest = z.infer<typeof pushResponseSchema>;
export type CertificatesAdded = z.infer<typeof certificatesAdded>;
export type { ServerMetadata } from "../../src/platform/core/oauth/discovery_representation.ts";
/** A part of 1, and milliseconds at most. */
interface Levels {
  readonly availability?: number;
  readonly answer_rate?: number;
  readonly response_median?: number | null;
  readonly response_percentile_95?: number | null;
}
export interface Banks {
  readonly banks: readonly {
    readonly bank: string;
    readonly state: string;
    readonly state_since?: string;
    readonly planned_outages?: readonly object[];
  }[];
}

export interface ServiceLevels {
  readonly from: string;
  readonly until: string;
  readonly generated_at: string;
  readonly banks: readonly (Levels & {
    readonly bank: string;
    readonly name: string;
    readonly days?: readonly (Levels & { readonly date: string })[];
  })[];
}
export type Replayed = z.infer<typeof replayResponseSchema>;
export type Readiness = {
  readonly ready: boolean;
  readonly parts: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
};
export type RegisteredClient = z.infer<typeof clientRepresentationSchema>;
export type ResourceError = z.infer<typeof resourceErrorSchema>;
export type Statement = z.infer<typeof statement>;
export type Subscription = z.infer<typeof subscriptionSchema>;
export type Subscriptions = z.infer<typeof subscriptionsSchema>;
export type TokenAnswer = z.infer<typeof tokenResponseSchema>;
export type Trace = z.infer<typeof tracesSchema>["Data"]["Trace"][number];
export type Traces = z.infer<typeof tracesSchema>;

/** A line of the log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly event: string };

declare const body: unique symbol;

/** A response whose body has this type if its request succeeded. */
export interface AnswerOf<T> extends Response {
  readonly [body]?: T;
}

/** The body of a response that is known to be such an answer. */
export async function bodyOf<T>(answer: AnswerOf<T> | Promise<AnswerOf<T>>): Promise<T> {
  return await (await answer).json() as T;
}

/** The body of a rejected request of OAuth, of the operations API or of the directory. */
export async function rejectionOf(
  answer: Response | Promise<Response>,
): Promise<Pick<OAuthError, "error" | "error_description">> {
  return await bodyOf(await answer);
}

/** The member of a document, for walks along a path. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;
}

/** The value. @throws {Error} if there is none */
export function present<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new Error("the value is missing");
  return value;
}

/** The first entry. @throws {Error} if there is none */
export function firstOf<T>(list: readonly T[]): T {
  return present(list[0]);
}
