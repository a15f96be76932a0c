/** The decoded claims of a bank's statement of its payment orders. */
import { z } from "@hono/zod-openapi";
import { because, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import {
  asConsentId,
  asPaymentId,
  type ConsentId,
  type PaymentId,
} from "../../../base/kernel/identifiers.ts";
import { instantOf } from "../../../base/kernel/date_time.ts";
import type { JwtKind } from "../../guards/http/jwt_schema.ts";
import { statedWord, usableWord } from "../../core/payments/bank_word_schema.ts";
import { type BankWord, PAYMENT_STATUSES, type PaymentStatus } from "../../core/payments/payment.ts";

export interface StatedOrder extends BankWord {
  /** When the bank signed the statement, milliseconds. */
  readonly statedAt: number;
  readonly paymentId: PaymentId;
  readonly consentId: ConsentId;
  readonly status: PaymentStatus;
  /** Milliseconds. */
  readonly statusUpdatedAt: number;
  /** The platform's own signed order, as the bank received it. Needed only for a payment that the platform lost. */
  readonly order?: string;
  /** The members as the bank named them, without `Order`, for the evidence. */
  readonly wire: Readonly<Record<string, unknown>>;
}

export interface StatementPage {
  /** Milliseconds. The statement covers every order that the bank received at or after this time. */
  readonly since: number;
  /** The page starts after this cursor; absent on the first page. */
  readonly after?: string;
  /** Cursor of the next page; absent on the last page. */
  readonly next?: string;
  readonly orders: readonly StatedOrder[];
}

const CURSOR = z.string().min(1).max(256);
const MAX_ORDERS = 200;
const MAX_ORDER_CHARACTERS = 24_576;

const instant = z.string().transform((text, context) => {
  const milliseconds = instantOf(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: "custom", message: "must be a date-time with an offset" });
  return z.NEVER;
}).openapi({ type: "string", format: "date-time" });

function uuid<T>(read: (value: unknown) => T | undefined): z.ZodType<T> {
  return z.string().transform((value, context) => {
    const id = read(value);
    if (id !== undefined) return id;
    context.addIssue({ code: "custom", message: "must be a UUID" });
    return z.NEVER;
  }).openapi({ type: "string", format: "uuid" });
}

const orderMembers = z.object({
  DomesticPaymentId: uuid(asPaymentId),
  ConsentId: uuid(asConsentId),
  Status: z.enum(PAYMENT_STATUSES),
  StatusUpdateDateTime: instant,
  ...statedWord,
  Order: z.string().max(MAX_ORDER_CHARACTERS).optional().openapi({
    description: "The order as you received it, with which the platform recovers a payment that it lost.",
  }),
});
const statedOrder = orderMembers.transform((stated): Omit<StatedOrder, "statedAt"> => ({
  paymentId: stated.DomesticPaymentId,
  consentId: stated.ConsentId,
  status: stated.Status,
  statusUpdatedAt: stated.StatusUpdateDateTime,
  ...usableWord(stated),
  ...(stated.Order === undefined ? {} : { order: stated.Order }),
  wire: withoutOrder(stated),
}));

function withoutOrder({ Order: _, ...stated }: z.infer<typeof orderMembers>): StatedOrder["wire"] {
  return { ...stated, StatusUpdateDateTime: new Date(stated.StatusUpdateDateTime).toISOString() };
}

const pageMembers = z.object({
  Since: instant,
  After: CURSOR.optional(),
  Next: CURSOR.optional(),
  PaymentOrder: z.array(statedOrder).max(MAX_ORDERS),
});
const claims = z.object({
  iss: z.string().openapi({ description: "Your code." }),
  aud: z.string().openapi({ description: "The platform's authorization host." }),
  iat: z.number(),
  exp: z.number().openapi({ description: "At most a day after `iat`." }),
  Data: pageMembers,
});

/** A statement. No other JWT of a bank has this type (RFC 8725 §3.11). */
export const STATEMENT_JWT: JwtKind = { name: "OrderStatementClaims", typ: "order-statement+jwt", claims };

/** The members that a statement may have. What else it has is the bank's own. */
export type PageMember = keyof typeof pageMembers.shape;
export type OrderMember = keyof typeof orderMembers.shape;

/** Decodes a page from claims, or returns the place of the fault. */
export function decodeStatement(given: unknown): Result<StatementPage, Reason> {
  const decoded = claims.safeParse(given);
  if (!decoded.success) {
    const [issue] = decoded.error.issues;
    return because(`${issue?.path.join(".") ?? "claims"}: ${issue?.message ?? "not a statement"}`);
  }
  const { iat, Data: { Since, After, Next, PaymentOrder } } = decoded.data;
  return ok({
    since: Since,
    orders: PaymentOrder.map((stated) => ({ statedAt: iat * 1000, ...stated })),
    ...(After === undefined ? {} : { after: After }),
    ...(Next === undefined ? {} : { next: Next }),
  });
}
