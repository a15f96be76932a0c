/** A bank that records every order, executes each once, and lists them in a statement on request. */
import { decodeJwt, decodeProtectedHeader } from "jose";
import type { OperationError, OrderHold } from "testing/operation_answers.ts";
import { bodyOf, type PaymentOrder } from "testing/answers.ts";
import { type JsonObject, signJwt } from "testing/jwts.ts";
import type { Participant } from "testing/participants.ts";
import { openPushEnvironment, type PushEnvironment } from "./orders.ts";
import { AUTH_URL, type Environment, type EnvironmentOptions } from "testing/environment.ts";

interface Inquiry {
  readonly Since: string;
  readonly After?: string;
}

/** The claims of a statement. */
export interface StatementClaims {
  readonly iss: string;
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly Data: Inquiry & { readonly Next?: string; readonly PaymentOrder: readonly Stated[] };
}

interface Stated {
  readonly DomesticPaymentId: string;
  readonly ConsentId: string;
  readonly Status: string;
  readonly StatusUpdateDateTime: string;
  Order?: string;
}

/** One order in the bank's ledger. */
export interface Booked {
  status: string;
  /** As it was received. */
  readonly order: string;
  readonly consentId: string;
  /** How often the bank executed it. */
  executions: number;
}

export interface Books {
  readonly orders: Map<string, Booked>;
  /** Orders on one page of a statement. */
  pageSize: number;
  /** Changes the claims of the next statements. */
  tamper: (claims: StatementClaims) => object;
  /** The bank's response to this order or inquiry. */
  answer(body: string): Promise<Response>;
  /** The bank's signed statement, as it answers an inquiry with this `Data`. */
  statement(data: Inquiry, header?: JsonObject, as?: Participant): Promise<string>;
}

/** Opens an empty ledger of `environment.bankA`. */
export function openBooks(env: { readonly now: number; readonly bankA: Participant }): Books {
  const books: Books = {
    orders: new Map(),
    pageSize: 100,
    tamper: (claims) => claims,
    async answer(body) {
      if (decodeProtectedHeader(body).typ !== "order-inquiry+jwt") return book(books, body);
      const { Data } = decodeJwt<{ Data: Inquiry }>(body);
      return new Response(await books.statement(Data), { headers: { "content-type": "application/jose" } });
    },
    statement(data, header = {}, { signing } = env.bankA) {
      const claims: JsonObject = {
        ...books.tamper(statementClaims(books, data, Math.floor(env.now / 1000))),
      };
      return signJwt(signing, claims, { typ: "order-statement+jwt", ...header });
    },
  };
  return books;
}

function book({ orders }: Books, body: string): Response {
  const { Data } = decodeJwt<PaymentOrder>(body);
  const known = orders.get(Data.DomesticPaymentId);
  if (known !== undefined) return Response.json({ Status: known.status });
  const status = "AcceptedSettlementInProcess";
  orders.set(Data.DomesticPaymentId, { status, order: body, consentId: Data.ConsentId, executions: 1 });
  return Response.json({ Status: status });
}

function statementClaims(
  { orders, pageSize }: Books,
  { Since, After }: Inquiry,
  iat: number,
): StatementClaims {
  const all = [...orders].sort(([a], [b]) => a < b ? -1 : 1).filter(([id]) => id > (After ?? ""));
  const page = all.slice(0, pageSize);
  const PaymentOrder = page.map(([id, { status, order, consentId }]) => ({
    DomesticPaymentId: id,
    ConsentId: consentId,
    Status: status,
    StatusUpdateDateTime: new Date(iat * 1000).toISOString(),
    Order: order,
  }));
  const next = all.length > page.length ? page.at(-1)?.[0] : undefined;
  return {
    iss: "BANKA",
    aud: AUTH_URL,
    iat,
    exp: iat + 300,
    jti: crypto.randomUUID(),
    Data: {
      Since,
      ...(After === undefined ? {} : { After }),
      ...(next === undefined ? {} : { Next: next }),
      PaymentOrder,
    },
  };
}

/** The answer about a hold: its state, or why the request was rejected. */
export type HoldAnswer = {
  readonly Data: OrderHold & { readonly OrderHold?: readonly OrderHold[] };
} & Partial<OperationError>;

/** A push environment whose bank A records its orders. */
export interface BookEnvironment extends PushEnvironment {
  readonly books: Books;
  /** The operator's call: the status and the body. */
  operate(path: string, body?: string): Promise<readonly [number, HoldAnswer]>;
}

export async function openBookEnvironment(options: EnvironmentOptions = {}): Promise<BookEnvironment> {
  const env = await openPushEnvironment(undefined, options);
  const books = openBooks(env);
  env.answer = ({ body }) => books.answer(body);
  return Object.assign(env, { books, operate: (path: string, body?: string) => operate(env, path, body) });
}

/** Maria's call as operator: the status and the body. */
export async function operate(
  env: Environment,
  path: string,
  body?: string,
): Promise<readonly [number, HoldAnswer]> {
  const response = await env.asOperator(path, body === undefined ? {} : { method: "POST", body });
  return [response.status, await bodyOf<HoldAnswer>(response)];
}
