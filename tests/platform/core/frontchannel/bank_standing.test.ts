/**
 * A bank that the directory has suspended or withdrawn cannot be used: within 15 s its TPPs' requests for it are
 * rejected.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { setOrganisation, setSoftware } from "support/directory_network.ts";
import { rejectionOf } from "testing/answers.ts";
import {
  call,
  clientToken,
  consentBody,
  createConsent,
  good,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import { authorised, authorize, Browser } from "testing/authorization_flow.ts";
import { errorBody } from "testing/resource_answers.ts";
import { BOUND_MS } from "support/standing.ts";
import { test } from "support/environment_test.ts";
import { type Environment } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

const CONSENTS = "/BANKA/domestic-payment-consents/v1";

interface Fall {
  readonly fall: (env: Environment) => Promise<void>;
  /** The error that the TPP's redirect URI receives for the customer. */
  readonly error: string;
}

const FALLS: Readonly<Record<string, Fall>> = {
  "is Suspended": {
    fall: (env) => setOrganisation(env, env.bankA, "Suspended"),
    error: "temporarily_unavailable",
  },
  "is Withdrawn": { fall: (env) => setOrganisation(env, env.bankA, "Withdrawn"), error: "access_denied" },
  "has Inactive software": {
    fall: (env) => setSoftware(env, env.bankA, "Inactive"),
    error: "temporarily_unavailable",
  },
  "has Revoked software": { fall: (env) => setSoftware(env, env.bankA, "Revoked"), error: "access_denied" },
};

for (const [name, { fall, error }] of Object.entries(FALLS)) {
  test(`nothing starts at a bank that ${name}, 15 s later at the latest [G5]`, async ({ env, t }) => {
    const flow = await authorised(env);
    const { ConsentId } = (await createConsent(env, flow.bound)).Data;
    const pushed = await good(push(env, ConsentId), 201);
    await fall(env);
    env.now += BOUND_MS;
    const attempts: Record<string, () => Promise<Response>> = {
      "token": () => requestToken(env, env.tpp),
      "PAR": () => push(env, ConsentId),
    };
    for (const [what, attempt] of Object.entries(attempts)) {
      await t.step(what, async () => await rejectedByOAuth(await unchanged(env, attempt)));
    }
    await t.step("consent", async () => {
      const create = { body: JSON.stringify(consentBody()) };
      await forbidden(await unchanged(env, () => call(env, env.tpp, flow.bound, CONSENTS, create)));
    });
    await t.step("payment", async () => {
      await forbidden(await unchanged(env, () => pay(env, flow)));
    });
    await t.step("authorize: back to the TPP", async () => {
      const attempt = (): Promise<Response> => authorize(new Browser(env), env.tpp, pushed.request_uri);
      const to = new URL((await unchanged(env, attempt)).headers.get("location") ?? "");
      assertEquals([to.origin, to.searchParams.get("error")], ["https://shop.example", error]);
      assertMatch(to.searchParams.get("error_description") ?? "", /bank is not active/);
      assertEquals(to.searchParams.get("state"), "af0ifjsldkj");
    });
    await t.step("the bank itself gets invalid_client", async () => {
      const answer = await requestToken(env, env.bankA);
      assertEquals([answer.status, (await rejectionOf(answer)).error], [401, "invalid_client"]);
    });
    await t.step("the other bank goes on", async () => {
      assertEquals((await requestToken(env, env.tpp, "BANKB")).status, 200);
    });
  });
}

test("what exists at an inactive bank can still be read by its active TPP [G5]", async ({ env, t }) => {
  const flow = await authorised(env);
  const key = crypto.randomUUID();
  const made = await good(pay(env, flow, { idempotencyKey: key }), 201);
  const other = await authorised(env);
  await setOrganisation(env, env.bankA, "Withdrawn");
  env.now += BOUND_MS;
  const id = made.Data.DomesticPaymentId;
  const reads: Record<string, () => Promise<Response>> = {
    "the consent": () => call(env, env.tpp, flow.bound, `${CONSENTS}/${flow.consentId}`),
    "the funds confirmation": () =>
      call(env, env.tpp, other.payment, `${CONSENTS}/${other.consentId}/funds-confirmation`),
    "the payment": () => call(env, env.tpp, flow.bound, `/BANKA/domestic-payments/v1/${id}`),
    "the payment by its key": () =>
      call(env, env.tpp, flow.bound, `/BANKA/domestic-payments/v1?idempotency-key=${key}`),
  };
  for (const [name, read] of Object.entries(reads)) {
    await t.step(name, async () => assertEquals((await read()).status, 200));
  }
  await t.step("a repeated POST answers with the payment that exists", async () => {
    const again = await good(pay(env, flow, { idempotencyKey: key }), 201);
    assertEquals(again.Data.DomesticPaymentId, id);
  });
});

test("a suspended bank that is Active again is served again 15 s later [G5]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  await setOrganisation(env, env.bankA, "Suspended");
  env.now += BOUND_MS;
  assertEquals((await requestToken(env, env.tpp)).status, 400);
  await setOrganisation(env, env.bankA, "Active");
  await setSoftware(env, env.bankA, "Active");
  env.now += BOUND_MS;
  assertEquals((await requestToken(env, env.tpp)).status, 200);
  assertEquals((await requestToken(env, env.bankA)).status, 200); // its keys are known again as well
  await createConsent(env, bound);
});

async function rejectedByOAuth(response: Response): Promise<void> {
  const { error, error_description: description } = await rejectionOf(response);
  assertEquals([response.status, error], [400, "invalid_request"]);
  assertMatch(description, /bank is not active/);
}

async function forbidden(response: Response): Promise<void> {
  assertMatch(response.headers.get("www-authenticate") ?? "", /^DPoP .*algs="PS256"$/);
  const { Message, Errors: [told] } = await errorBody(response, 403);
  assertEquals([Message, told?.ErrorCode], ["The bank is not active.", "UK.OBIE.UnexpectedError"]);
  assertMatch(told?.Message ?? "", /^The bank is not active: (the directory|its) .+\.$/);
}
