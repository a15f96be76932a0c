/**
 * `POST /authorizations`: a customer without a browser opens a TPP's link and approves, rejects, is late or has a bank
 * that fails, so that the tests of a TPP need no browser. It visits the same pages as any customer (contract SB6).
 */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { customersOf } from "./customers.ts";
import type { Visit } from "../customer/browser.ts";
import { type CustomerPlan, CustomerStopped, goThroughAuthorization } from "../customer/customer.ts";

export interface AuthorizationRouteDeps {
  /** The platform's browser host, without a trailing slash. */
  readonly authUrl: string;
  readonly log: (event: string, fields?: Readonly<Record<string, string | number | boolean>>) => void;
}

/** The customer's decision. A late customer moves the sandbox's clock 15 minutes ahead. */
const OUTCOMES = {
  approve: {},
  refuse: { rejectAt: "login" },
  late: { fault: "late_customer" },
  fail: { fault: "expired_return" },
} as const satisfies Readonly<Record<string, Partial<CustomerPlan>>>;

const MAX_BODY_BYTES = 8192;
/** At one time. */
const MAX_CUSTOMERS = 20;

const bodySchema = z.strictObject({
  bank: z.string().regex(/^[A-Za-z0-9]{1,32}$/),
  client_id: z.string().min(1).max(64),
  request_uri: z.string().min(1).max(256),
  outcome: z.enum(["approve", "refuse", "late", "fail"]).default("approve"),
  username: z.string().min(1).max(64).default("alice"),
});

/** Routes below `/authorizations`. */
export function authorizationRoutes({ authUrl, log }: AuthorizationRouteDeps): Hono {
  const routes = new Hono();
  let customers = 0;
  routes.post("/", bodyLimit({ maxSize: MAX_BODY_BYTES }), async (c) => {
    const wanted = bodySchema.safeParse(await jsonBody(c));
    if (!wanted.success) {
      const wrong = wanted.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim());
      return c.json({ error: "invalid_request", error_description: wrong.join("; ") }, 400);
    }
    const names = customersOf(wanted.data.bank).map(({ username }) => username);
    if (names.length > 0 && !names.includes(wanted.data.username)) {
      const error_description = `username must be one of ${names.join(", ")}`;
      return c.json({ error: "invalid_request", error_description }, 400);
    }
    if (customers >= MAX_CUSTOMERS) {
      return c.json({ error: "temporarily_unavailable" }, 503, { "retry-after": "1" });
    }
    customers += 1;
    try {
      return await authorize(c, authUrl, wanted.data);
    } finally {
      customers -= 1;
      log("customer.went", { bank: wanted.data.bank, outcome: wanted.data.outcome });
    }
  });
  return routes;
}

async function authorize(
  c: Context,
  authUrl: string,
  { bank, client_id, request_uri, outcome, username }: z.infer<typeof bodySchema>,
): Promise<Response> {
  const query = new URLSearchParams({ client_id, request_uri });
  const startUrl = `${authUrl}/${bank}/authorization.oauth2?${query}`;
  const visits: unknown[] = [];
  try {
    const back = await goThroughAuthorization(
      { startUrl, username, ...OUTCOMES[outcome] },
      ({ visit }) => visits.push(visitFields(visit)),
    );
    return c.json({ redirect_url: back.href, parameters: Object.fromEntries(back.searchParams), visits });
  } catch (error) {
    const stopped = error instanceof CustomerStopped ? visitFields(error.visit) : {};
    const error_description = error instanceof Error ? error.message : String(error);
    return c.json({ error: "customer_stopped", error_description, ...stopped, visits }, 422);
  }
}

/** Without the query, which holds JWTs and codes. */
function visitFields(
  { method, url, status, interactionId }: Visit,
): Readonly<Record<string, string | number>> {
  return {
    method,
    url: `${url.origin}${url.pathname}`,
    status,
    ...(interactionId === undefined ? {} : { interaction_id: interactionId }),
  };
}

/** Undefined unless the content type is JSON. A page of another site cannot send that without a CORS preflight. */
async function jsonBody(c: Context): Promise<unknown> {
  const mediaType = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (mediaType !== "application/json") return undefined;
  return await c.req.json<unknown>().catch(() => undefined);
}
