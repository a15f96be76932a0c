/** Every route of the router: which requests it is admitted with, how much of a body it reads, how much it answers. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { Hono } from "hono";
import { type Check, mount } from "../../../../src/base/http/endpoint.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { endpoint, isBelow, type MountedEndpoint } from "../../../../src/platform/guards/http/endpoint.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { type BoundToken, clientToken } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { dpopProof } from "testing/jwts.ts";
import { MARIA } from "testing/operators.ts";
import type { Participant } from "testing/participants.ts";
import { MAX_BODY_BYTES } from "../../../../src/base/limits.ts";
import { stepsOf } from "support/steps.ts";

const LOGO = `data:image/png;base64,${btoa("not looked at")}`;

/** A new route needs a line here: whose places does it take, and what may wait for it? */
const TRAFFIC: Readonly<Record<string, string>> = {
  "POST /register/v1": "participant",
  "GET /register/v1/:clientId": "participant",
  "DELETE /register/v1/:clientId": "participant",
  "POST /:bank/token.oauth2/v1": "approved",
  "POST /:bank/par.oauth2/v1": "participant",
  "POST /:bank/domestic-payment-consents/v1": "participant",
  "GET /:bank/domestic-payment-consents/v1": "participant",
  "GET /:bank/domestic-payment-consents/v1/:consentId": "participant",
  "GET /:bank/domestic-payment-consents/v1/:consentId/funds-confirmation": "participant",
  "POST /:bank/domestic-payments/v1": "approved",
  "GET /:bank/domestic-payments/v1": "participant",
  "GET /:bank/domestic-payments/v1/:paymentId": "participant",
  "GET /:bank/domestic-payments/v1/:paymentId/receipt": "participant",
  "POST /receipt": "public",
  "GET /:bank/back-channel-auth/v1/:consentId": "bank",
  "PUT /:bank/back-channel-auth/v1/:consentId": "bank",
  "POST /:bank/authorization-results/v1": "bank",
  "GET /:bank/back-channel-payments/v1": "bank",
  "GET /:bank/back-channel-payments/v1/:paymentId": "bank",
  "PUT /:bank/back-channel-payments/v1/:paymentId": "bank",
  "POST /:bank/back-channel-events/v1": "bank",
  "POST /:bank/events/v1": "participant",
  "POST /:bank/events/v1/replay": "participant",
  "POST /:bank/event-subscriptions/v1": "participant",
  "GET /:bank/event-subscriptions/v1": "participant",
  "PUT /:bank/event-subscriptions/v1/:eventSubscriptionId": "participant",
  "DELETE /:bank/event-subscriptions/v1/:eventSubscriptionId": "participant",
  "GET /:bank/cases/v1/:caseId": "participant",
  "POST /:bank/disputes/v1": "participant",
  "GET /:bank/disputes/v1/:paymentId": "participant",
  "GET /traces/v1/:interactionId": "participant",
  "GET /traces/v1": "participant",
  "GET /:bank/authorization.oauth2": "customer",
  "GET /:bank/authorization.sca.oauth2": "returning",
  "GET /:bank/authorization.consent.oauth2": "returning",
  "POST /:bank/authorization.consent.oauth2": "returning",
  "GET /:bank/authorization.waiting.oauth2": "returning",
  "GET /health/live": "probe",
  "GET /health/serving": "probe",
  "GET /health/ready": "operator",
};
/** The largest answer, bytes: the OpenAPI document. Every other one is smaller. */
const MAX_ANSWER_BYTES = 524_288;
/** Of a body without end: 64 KiB, and what the stream holds ready. */
const MAX_TAKEN_BYTES = 3 * 65_536;

const TYPES = ["application/json", "application/x-www-form-urlencoded", "application/jose"];
/** The routes that read bodies. The others answer without. */
const READS_BODIES = [
  "POST /register/v1",
  "POST /:bank/token.oauth2/v1",
  "POST /:bank/par.oauth2/v1",
  "POST /:bank/domestic-payment-consents/v1",
  "POST /:bank/domestic-payments/v1",
  "PUT /:bank/back-channel-auth/v1/:consentId",
  "POST /:bank/authorization-results/v1",
  "PUT /:bank/back-channel-payments/v1/:paymentId",
  "POST /:bank/back-channel-events/v1",
  "POST /:bank/disputes/v1",
  "POST /:bank/events/v1",
  "POST /:bank/events/v1/replay",
  "POST /:bank/event-subscriptions/v1",
  "PUT /:bank/event-subscriptions/v1/:eventSubscriptionId",
  "POST /receipt",
  "POST /:bank/authorization.consent.oauth2",
  "POST /operations/payment-orders/:paymentId/close",
  "POST /operations/order-holds/:bank/reconcile",
  "POST /operations/order-holds/:bank/release",
  "POST /operations/disputes/:paymentId/decision",
  "POST /operations/organisations/:id/block",
  "POST /operations/organisations/:id/unblock",
  "POST /operations/software/:id/block",
  "POST /operations/software/:id/unblock",
  "POST /operations/software/:id/revoke-tokens",
  "POST /operations/banks/:id/hold",
  "POST /operations/banks/:id/release",
  "POST /operations/banks/:id/outages",
  "POST /operations/banks/:id/outages/:outageId/change",
  "POST /operations/banks/:id/outages/:outageId/cancel",
  "POST /operations/cases/:id/erasure",
  "POST /operations/proposals/:id/approve",
  "POST /operations/proposals/:id/withdraw",
  "POST /console/sign-in",
];

const named = ({ method, path }: MountedEndpoint): string => `${method} ${path}`;

Deno.test("every route declares the traffic that it is admitted with", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_OPERATOR_LOGO: LOGO } });
  const { api, browser } = env.platform.endpoints;
  const isPublic = ({ method, path, traffic }: MountedEndpoint): boolean =>
    traffic === "public" && method === "GET" && !path.startsWith("/:bank");
  const others = [...api, ...browser].filter((each) => !isPublic(each));
  assertEquals(Object.fromEntries(others.map((each) => [named(each), each.traffic])), TRAFFIC);
  assert(browser.some(isPublic) && !api.some(isPublic));
  const { operations } = env.platform.endpoints;
  assertEquals(
    operations.filter(({ path, traffic }) => {
      const isOwn = /^\/(operations|console)\/own(\/|$)/.test(path);
      return traffic !== (isOwn ? "person" : path === "/" ? "public" : "operator") &&
        !path.startsWith("/health/");
    }),
    [],
  );
});

Deno.test("an endpoint that is declared twice does not start", () => {
  const route = { method: "get", path: "/docs/new", responses: { 200: { description: "Fine" } } } as const;
  const declared = endpoint("oauth", "public", route, [], (c) => c.text("fine"));
  mount(new Hono(), [declared], () => false);
  assertThrows(() => mount(new Hono(), [declared, declared], () => false), Error, "GET /docs/new");
});

Deno.test("the checks of an endpoint run in their order, and a rejection keeps the later ones from running", async () => {
  const ran: string[] = [];
  const check = (name: string): Check => async (_c, next) => {
    ran.push(name);
    await next();
  };
  const rejecting: Check = () => Promise.reject(new ApiError("request.not_acceptable"));
  const route = { method: "post", path: "/docs/new", responses: { 200: { description: "Fine" } } } as const;
  const app = new Hono();
  mount(app, [
    endpoint(
      "oauth",
      "public",
      route,
      [check("first"), check("second"), rejecting, check("third")],
      (c) => c.text("fine"),
    ),
  ], () => false);
  app.onError((error, c) => c.text(error.message, 400));
  const init = { method: "POST" };
  assertEquals(await (await app.request("/docs/new", init)).text(), "request.not_acceptable");
  assertEquals(ran, ["first", "second"]);
});

Deno.test("one listener tells the hosts apart by the first two segments of a path", async () => {
  await using env = await openEnvironment();
  const { api, browser } = env.platform.endpoints;
  const isApi = isBelow(api);
  for (const { path } of api) assertEquals(isApi(path.replace(":bank", "BANKA")), true, path);
  for (const { path } of browser) assertEquals(isApi(path.replace(":bank", "BANKA")), false, path);
  for (const path of ["/", "//token.oauth2/v1", "/BANKA", "/BANKA/token.oauth2x/v1", "/x/:bank"]) {
    assertEquals(isApi(path), false, path);
  }
});

Deno.test("no route reads more of a body than its bound, or answers more than the largest document", async (t) => {
  await using env = await openEnvironment({ environment: { PLATFORM_OPERATOR_LOGO: LOGO } });
  const callers: readonly [Participant, BoundToken][] = [
    [env.tpp, await clientToken(env, env.tpp)],
    [env.tpp, (await authorised(env)).payment],
    [env.bankA, await clientToken(env, env.bankA)],
  ];
  const read = new Set<string>();
  for (const [host, endpoints] of Object.entries(env.platform.endpoints)) {
    await stepsOf(t, endpoints, (each) => named(each), async (each) => {
      for (const [as, bound] of callers) {
        for (const type of each.method === "GET" ? [""] : TYPES) {
          const { taken, size } = await provoke(env, host, each, { type, as, bound });
          assert(taken <= MAX_TAKEN_BYTES, `${taken} bytes of the body were read`);
          assert(size <= MAX_ANSWER_BYTES, `${size} bytes were answered`);
          if (taken > MAX_BODY_BYTES) read.add(named(each));
        }
      }
    });
  }
  assertEquals([...read], READS_BODIES);
});

async function provoke(
  env: Environment,
  host: string,
  { method, path }: MountedEndpoint,
  { type, as, bound }: { readonly type: string; readonly as: Participant; readonly bound: BoundToken },
): Promise<{ readonly taken: number; readonly size: number }> {
  const pathname = path.replace(":bank", "BANKA").replaceAll(/:\w+/g, crypto.randomUUID());
  const url = `${host === "api" ? BASE_URL : AUTH_URL}${pathname}`;
  const dpop = await dpopProof(env, bound.key, { method, url, accessToken: bound.token });
  const authorization = host === "operations" ? MARIA.authorization : `DPoP ${bound.token}`;
  const headers = { "content-type": type, authorization, dpop, "x-idempotency-key": "k" };
  const taken = { bytes: 0 };
  const body = method === "GET" ? {} : { body: endlessBody(taken) };
  const request = new Request(url, { method, headers, ...body });
  const answer =
    await (host === "api"
      ? env.api(request, as)
      : host === "browser"
      ? env.browser(request)
      : env.platform.operations.fetch(request));
  return { taken: taken.bytes, size: (await answer.arrayBuffer()).byteLength };
}

function endlessBody(taken: { bytes: number }): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull(controller): void {
      taken.bytes += 16_384;
      if (taken.bytes > 1_048_576) return controller.close();
      controller.enqueue(new Uint8Array(16_384).fill(0x61));
    },
  });
}
