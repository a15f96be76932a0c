/** What is known of a request by its endpoint: labels, paths, what is measured and what its trace has. */
import { assertEquals } from "@std/assert";
import { Hono, type MiddlewareHandler } from "hono";
import type { RequestEnv } from "../../../../src/base/http/context.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { isBelow, knownMethod, type MountedEndpoint } from "../../../../src/platform/guards/http/endpoint.ts";
import {
  noteTold,
  tracedRejection,
  traceRequests,
} from "../../../../src/platform/guards/http/trace_requests.ts";
import { requestMetrics } from "../../../../src/platform/guards/security/admit.ts";

const SHOP = "SC-0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00";

Deno.test("a method is a label if HTTP or PATCH defines it", () => {
  const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];
  assertEquals(methods.map(knownMethod), methods);
  assertEquals(["get", "TRACE", "", "BREW"].map(knownMethod), Array(4).fill("other"));
});

Deno.test("a path is below endpoints by its first two segments, of which the first may be a bank", () => {
  const paths = ["/:bank/receipts/v1/:id", "/health/live", "/problem"];
  const below = isBelow(paths.map((path) => ({ path }) as MountedEndpoint));
  assertEquals(
    ["/BANKA/receipts", "/x/receipts/y", "/health/live", "/health/live/x"].filter(below).length,
    4,
  );
  assertEquals(["/receipts", "//receipts", "/health", "/health/x", "/BANKA/live", "/", ""].filter(below), []);
});

/** Sends a request of which `known` is known through a middleware. */
async function pass(
  middleware: MiddlewareHandler,
  known: Readonly<Record<string, unknown>>,
  { status = 200, method = "GET" } = {},
): Promise<void> {
  const app = new Hono<RequestEnv>();
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(known)) c.set(name as never, value as never);
    await next();
  });
  app.use(middleware);
  app.all("/", (c) => c.body(null, status as 200));
  await app.request("/", { method });
}

Deno.test("a request is measured by its endpoint, bank and client, without the wait that its caller asked for", async () => {
  const measured = async (known: object, status: number, method = "GET"): Promise<readonly unknown[]> => {
    const calls: unknown[] = [];
    const note = (name: string) => (...given: unknown[]) => void calls.push([name, ...given]);
    const times = [10, 260];
    const middleware = requestMetrics({
      metrics: { count: note("count"), observe: note("observe"), set: note("set") } as never,
      figures: { request: note("figures") as never },
      elapsed: () => times.shift() ?? Number.NaN,
    });
    await pass(middleware, { trace: {}, facts: {}, ...known }, { status, method });
    return calls;
  };
  const total = (status: string, method = "GET") => [
    "count",
    "platform_requests_total",
    { route: "none", method, status },
  ];
  const took = (
    seconds: number,
  ) => ["observe", "platform_request_duration_seconds", { route: "none" }, seconds];
  assertEquals(await measured({}, 404, "BREW"), [total("404", "other"), took(0.25)]);
  const client = { facts: { clientId: SHOP, orgId: "SHOP" }, bank: { code: "BANKA" } };
  const trace = { waitedMs: 50, rejection: { reason: "request.rate_limited" } };
  const ofClass = (status: string): readonly unknown[] => [
    ["count", "platform_bank_requests_total", { bank: "BANKA", status }],
  ];
  assertEquals(await measured({ ...client, trace, certificate: { notAfter: 5000 } }, 429), [
    total("429"),
    took(0.2),
    ...ofClass("4xx"),
    ["figures", {
      bank: "BANKA",
      clientId: SHOP,
      status: 429,
      reason: "request.rate_limited",
      milliseconds: 200,
    }],
    ["count", "platform_client_requests_total", { client: SHOP, status: "4xx" }],
    ["set", "platform_client_certificate_expiry_timestamp_seconds", { client: SHOP }, 5],
  ]);
  const own = { facts: { clientId: SHOP, orgId: "BANKA" }, bank: { code: "BANKA" } };
  assertEquals(await measured({ ...own, trace: { ...trace, waitedMs: 0 } }, 399), [
    total("399"),
    took(0.25),
    ...ofClass("3xx"),
    ["figures", { bank: undefined, clientId: SHOP, status: 399, reason: undefined, milliseconds: 250 }],
    ["count", "platform_client_requests_total", { client: SHOP, status: "3xx" }],
  ]);
  assertEquals(await measured({ bank: { code: "BANKA" } }, 500), [
    total("500"),
    took(0.25),
    ...ofClass("5xx"),
  ]);
});

Deno.test("a request that anyone may send has a trace if it is rejected, and JWTs are kept only if it is said", async () => {
  const recorded = async (status: number, keepsJwts: boolean): Promise<readonly unknown[]> => {
    const calls: unknown[] = [];
    const times = [10, 12.34];
    const middleware = traceRequests({
      record: (...given) => void calls.push(given),
      clock: () => 1000,
      elapsed: () => times.shift() ?? Number.NaN,
      keepsJwts,
    });
    await pass(middleware, { facts: { clientId: SHOP }, trace: {}, passed: 3 }, { status });
    return calls;
  };
  const measured = { at: 1000, milliseconds: 2.3, method: "other", route: "none", status: 400, checks: [] };
  assertEquals(await recorded(399, true), []);
  assertEquals(await recorded(400, true), [[{ clientId: SHOP }, { received: [] }, {
    ...measured,
    passed: 3,
  }]]);
  assertEquals(await recorded(400, false), [[{ clientId: SHOP }, {}, { ...measured, passed: 3 }]]);
});

Deno.test("a trace has what was wrong once it is told, and another reason if that was told", () => {
  const fault = { at: "iss", expected: "your client_id" };
  const faults = [{ code: "Field.Invalid", message: "Must be 1." }] as const;
  const rejection = new ApiError("client.not_authenticated", { detail: "why", fault, faults });
  const told = { reason: "client.not_authenticated", detail: "why", faults };
  assertEquals<unknown>(tracedRejection(undefined), { reason: "platform.failed" });
  assertEquals<unknown>(tracedRejection(rejection), told);
  assertEquals<unknown>(tracedRejection(rejection, true), { ...told, fault });
  assertEquals<unknown>(tracedRejection(new ApiError("bank.unknown")), { reason: "bank.unknown" });
  const noted = (reason: "token.invalid" | "client.not_authenticated"): unknown => {
    const notes = { rejection: tracedRejection(rejection) } as Parameters<typeof noteTold>[0];
    noteTold(notes, SHOP as never, { reason, fault });
    return notes;
  };
  assertEquals(noted("client.not_authenticated"), { provenClient: SHOP, rejection: { ...told, fault } });
  assertEquals(noted("token.invalid"), {
    provenClient: SHOP,
    rejection: { ...told, fault, toldReason: "token.invalid" },
  });
});
