/** The sandbox's customer without a browser, as the tests of a TPP call it over HTTP. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { AuthorizationResponseError } from "oauth4webapi";
import { bodyOf, type SandboxTime } from "testing/answers.ts";
import {
  type AccessToken,
  checkCallback,
  exchangeCode,
  grantClientToken,
  type PendingAuthorization,
  pushAuthorization,
} from "../../src/client/tpp/authorization.ts";
import { createConsent, createPayment, readConsent } from "../../src/client/tpp/domestic_payments.ts";
import { emptyMessageLog } from "../../src/client/tpp/message_log.ts";
import { openFlow, type PaymentFlow } from "../../src/client/tpp/payment_journey.ts";
import { type PaymentRequest, paymentRequest } from "../../src/client/tpp/payment_request.ts";
import { submitPayment } from "../../src/client/tpp/take_payment.ts";
import { openTpp } from "../../src/client/tpp/tpp.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import { merchant } from "../../src/sandbox/shop/catalogue.ts";
import { startPooledEcosystem } from "support/pooled_ecosystem.ts";

interface Sandbox extends AsyncDisposable {
  readonly endpoints: { readonly auth_url: string; readonly banks_url: string };
  /** Opens a flow at a bank with a consent that awaits authorisation. */
  readonly pending: (bank: string, changes?: { implicit?: true }) => Promise<Pending>;
}

interface Pending {
  readonly flow: PaymentFlow;
  readonly token: AccessToken;
  readonly request: PaymentRequest;
  readonly consentId: string;
  readonly pushed: PendingAuthorization;
  /** The request to the headless customer. */
  readonly link: { readonly bank: string; readonly client_id: string; readonly request_uri: string };
}

async function openSandbox(): Promise<Sandbox> {
  const dir = await Deno.makeTempDir({ prefix: "headless-" });
  const { endpoints, stop } = await startPooledEcosystem({ port: freeSandboxPorts(), dir });
  const redirectUri = `${endpoints.shop_url}/callback`;
  const ahead = async (): Promise<number> => {
    const { ahead_seconds } = await bodyOf<SandboxTime>(fetch(`${endpoints.directory_url}/sandbox/clock`));
    return ahead_seconds * 1000;
  };
  let aheadMs = 0;
  const tpp = await openTpp({ dir, name: "shop", endpoints, redirectUri, now: () => Date.now() + aheadMs });
  return {
    endpoints,
    async pending(bank, { implicit } = {}) {
      aheadMs = await ahead();
      const flow = await openFlow(tpp, bank, emptyMessageLog());
      const token = await grantClientToken(flow);
      const request = paymentRequest({
        orderId: crypto.randomUUID(),
        description: "Lunch of the day",
        amount: "12.00",
        merchant,
        ...(implicit ? { debtorIban: "GB33BUKB20201555555555" } : {}),
      });
      const { consentId } = await createConsent(flow, token, request);
      const pushed = await pushAuthorization(flow, consentId);
      const link = { bank, client_id: tpp.participant.clientId, request_uri: pushed.requestUri };
      return { flow, token, request, consentId, pushed, link };
    },
    async [Symbol.asyncDispose]() {
      tpp.close();
      await stop();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

/** Where the customer ended, or why the customer could not go on. */
interface Authorization
  extends Readonly<Record<"redirect_url" | "error" | "error_description" | "interaction_id", string>> {
  readonly parameters: object;
  readonly visits: readonly object[];
  readonly status: number;
}

/** The call that a TPP's tests make. */
async function authorizations(
  { endpoints }: Sandbox,
  body: unknown,
  type = "application/json",
): Promise<{ readonly status: number; readonly json: Authorization }> {
  const response = await fetch(`${endpoints.banks_url}/authorizations`, {
    method: "POST",
    headers: { "content-type": type },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await bodyOf<Authorization>(response) };
}

/** The error with which the customer came back, checked as a TPP checks it; undefined with a code. */
function errorOf({ flow, pushed }: Pending, back: string): string | undefined {
  try {
    checkCallback(flow, pushed, new URL(back));
    return undefined;
  } catch (error) {
    if (error instanceof AuthorizationResponseError) return error.error;
    throw error;
  }
}

Deno.test("one call authorizes a pushed request without a browser, and the code pays [SB6]", async (t) => {
  await using sandbox = await openSandbox();
  const cases = [["BANKA", {}], ["BANKA", { implicit: true }], ["BANKB", {}]] as const;
  for (const [bank, changes] of cases) {
    await t.step(`${bank} ${Object.keys(changes).join()}`, async () => {
      const pending = await sandbox.pending(bank, changes);
      const { status, json } = await authorizations(sandbox, pending.link);
      assertEquals(status, 200, JSON.stringify(json));
      assertEquals(Object.keys(json), ["redirect_url", "parameters", "visits"]);
      assertEquals(Object.keys(json.parameters).toSorted(), ["code", "iss", "state"]);
      assertEquals(JSON.stringify(json.visits).includes("oAuthUrl"), false);
      const { flow, pushed, consentId, request } = pending;
      const token = await exchangeCode(flow, pushed, checkCallback(flow, pushed, new URL(json.redirect_url)));
      const paymentKey = crypto.randomUUID();
      const payment = await createPayment(flow, token, { consentId, ...request }, paymentKey);
      assertMatch(payment.status, /^Accepted/);
      const begun = { url: pushed.url, consentId, authorization: pushed, request, paymentKey };
      const lost = { ...token, value: "a-token-that-has-expired" };
      assertEquals((await submitPayment(flow, begun, lost)).paymentId, payment.paymentId);
    });
  }
});

Deno.test("the customer refuses, is late or has a bank that fails, as the call asks [SB6]", async (t) => {
  await using sandbox = await openSandbox();
  const outcomes = {
    refuse: ["access_denied", "Rejected"],
    fail: ["server_error", "AwaitingAuthorisation"],
    late: ["access_denied", "AwaitingAuthorisation"], // last, because it moves the sandbox's clock
  } as const;
  for (const [outcome, [error, status]] of Object.entries(outcomes)) {
    for (const bank of ["BANKA", "BANKB"]) {
      await t.step(`${outcome} at ${bank}`, async () => {
        const pending = await sandbox.pending(bank);
        const { json } = await authorizations(sandbox, { ...pending.link, outcome });
        assertEquals(errorOf(pending, json.redirect_url), error, JSON.stringify(json));
        const { flow } = await sandbox.pending(bank); // of the sandbox's time
        const seen = await readConsent(flow, await grantClientToken(flow), pending.consentId);
        assertEquals(seen.status, status);
      });
    }
  }
});

Deno.test("an unusable request is named, with the number of the platform's page [SB6]", async (t) => {
  await using sandbox = await openSandbox();
  const { link } = await sandbox.pending("BANKA");
  await t.step("a request_uri that does not exist", async () => {
    const request_uri = `urn:ietf:params:oauth:request_uri:${"x".repeat(43)}`;
    const { status, json } = await authorizations(sandbox, { ...link, request_uri });
    assertEquals([status, json.error, json.status], [422, "customer_stopped", 400]);
    assertStringIncludes(json.error_description, "This link cannot be used");
    assertMatch(json.interaction_id, /^[0-9a-f-]{36}$/);
  });
  await t.step("an outcome that does not exist", async () => {
    const { status, json } = await authorizations(sandbox, { ...link, outcome: "accept" });
    assertEquals([status, json.error], [400, "invalid_request"]);
    assertStringIncludes(json.error_description, "outcome");
  });
  await t.step("a customer who does not exist at the bank", async () => {
    const { status, json } = await authorizations(sandbox, { ...link, username: "dave" });
    assertEquals([status, json.error_description], [400, "username must be one of alice, bob, carol"]);
  });
  await t.step("a form of another site", async () => {
    assertEquals((await authorizations(sandbox, link, "text/plain")).status, 400);
  });
  await t.step("the platform has no such endpoint", async () => {
    const { auth_url } = sandbox.endpoints;
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    const response = await fetch(`${auth_url}/authorizations`, init);
    await response.body?.cancel();
    assertEquals(response.status, 404);
  });
});
