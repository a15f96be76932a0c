/** A bank that remembers every order it was sent, executes each once, and states them when it is asked. */
import { decodeJwt, decodeProtectedHeader } from "jose";
import type { Json } from "./flows.ts";
import { type JsonObject, signJwt } from "./jwts.ts";
import type { Participant } from "./participants.ts";
import { openPushWorld, type Push, type PushWorld } from "./orders.ts";
import { AUTH_URL } from "./world.ts";

export const OPERATOR_TOKEN = "an-operators-token-0123456789-abcdefghij";

/** One order in the bank's books. */
export interface Booked {
  status: string;
  /** As it was received. */
  readonly order: string;
  readonly consentId: string;
  /** How often the bank moved money for it. */
  executions: number;
}

/** A push world whose bank A keeps books. */
export interface BookWorld extends PushWorld {
  readonly books: Map<string, Booked>;
  /** Orders on one page of a statement. */
  pageSize: number;
  /** Changes the claims of the next statements. */
  tamper: (claims: Json) => Json;
  /** The operator's call: the status and the body. */
  operate(path: string, body?: string): Promise<readonly [number, Json]>;
}

/** Opens it. */
export async function openBookWorld(): Promise<BookWorld> {
  const world = await openPushWorld(undefined, { environment: { OPERATOR_TOKEN } });
  const bookWorld: BookWorld = Object.assign(world, {
    books: new Map<string, Booked>(),
    pageSize: 100,
    tamper: (claims: Json): Json => claims,
    operate: (path: string, body?: string) => operate(world, path, body),
  });
  bookWorld.answer = (push) => answer(bookWorld, push);
  return bookWorld;
}

async function answer(world: BookWorld, push: Push): Promise<Response> {
  if (decodeProtectedHeader(push.body).typ !== "order-inquiry+jwt") return book(world, push);
  const { Data } = decodeJwt(push.body) as Json;
  return new Response(await statement(world, Data), { headers: { "content-type": "application/jose" } });
}

function book({ books }: BookWorld, { body }: Push): Response {
  const { Data } = decodeJwt(body) as Json;
  const known = books.get(Data.DomesticPaymentId);
  if (known !== undefined) return Response.json({ Status: known.status });
  const status = "AcceptedSettlementInProcess";
  books.set(Data.DomesticPaymentId, { status, order: body, consentId: Data.ConsentId, executions: 1 });
  return Response.json({ Status: status });
}

/** The bank's signed statement, as it answers an inquiry with this `Data`. */
export async function statement(
  world: BookWorld,
  { Since, After }: { Since: string; After?: string },
  header: JsonObject = {},
  { signing }: Participant = world.bankA,
): Promise<string> {
  const all = [...world.books].sort(([a], [b]) => a < b ? -1 : 1).filter(([id]) => id > (After ?? ""));
  const page = all.slice(0, world.pageSize);
  const iat = Math.floor(world.now / 1000);
  const claims = world.tamper({
    iss: "BANKA",
    aud: AUTH_URL,
    iat,
    exp: iat + 300,
    jti: crypto.randomUUID(),
    Data: {
      Since,
      ...(After === undefined ? {} : { After }),
      ...(all.length > page.length ? { Next: page.at(-1)?.[0] } : {}),
      PaymentOrder: page.map(([id, { status, order, consentId }]) => ({
        DomesticPaymentId: id,
        ConsentId: consentId,
        Status: status,
        StatusUpdateDateTime: new Date(world.now).toISOString(),
        Order: order,
      })),
    },
  });
  return await signJwt(signing, claims, { typ: "order-statement+jwt", ...header });
}

async function operate(
  world: PushWorld,
  path: string,
  body?: string,
): Promise<readonly [number, Json]> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, "x-operator": "maria" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  const response = await world.platform.api.fetch(new Request(`http://localhost${path}`, init));
  return [response.status, await response.json()];
}
