/** What a good token allows: its scope, its grant, its one consent. */
import { assertEquals } from "@std/assert";
import { authorised, call, clientToken, consentBody, good, pay } from "../../../scripts/testing/flows.ts";
import { assertChallenge, unchanged } from "../../../scripts/testing/resource_answers.ts";
import { CONSENTS, PAYMENTS, resourceCalls } from "../../support/resource_calls.ts";
import { openWorld } from "../../../scripts/testing/environment.ts";

const FORBIDDEN = 'DPoP error="insufficient_scope", scope="payments", algs="PS256"';

Deno.test("resource endpoints of TPPs refuse a bank's token [RG-N9] [RP-N24]", async (t) => {
  await using world = await openWorld();
  const bank = await clientToken(world, world.bankA);
  for (const endpoint of await resourceCalls(world)) {
    await t.step(endpoint.name, async () => {
      const response = await unchanged(world, () => endpoint.send({ caller: world.bankA, token: bank }));
      await assertChallenge(response, 403, FORBIDDEN);
    });
  }
});

Deno.test("POST domestic-payments refuses a client credentials token [RP-N16] [PAY-05] [FAPI-G22] [RS7]", async () => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const response = await unchanged(world, () => pay(world, { ...flow, payment: flow.bound }));
  await assertChallenge(response, 403, FORBIDDEN);
});

Deno.test("POST and GET domestic-payment-consents refuse an authorization code token [RP-N17] [RS7]", async (t) => {
  await using world = await openWorld();
  const { payment, consentId } = await authorised(world);
  await t.step("POST", async () => {
    const body = JSON.stringify(consentBody());
    const response = await unchanged(world, () => call(world, world.tpp, payment, CONSENTS, { body }));
    await assertChallenge(response, 403, FORBIDDEN);
  });
  await t.step("GET its own consent", async () => {
    const response = await unchanged(
      world,
      () => call(world, world.tpp, payment, `${CONSENTS}/${consentId}`),
    );
    await assertChallenge(response, 403, FORBIDDEN);
  });
});

Deno.test("an authorization code token is for its own consent alone [RP-N18] [PAY-05]", async (t) => {
  await using world = await openWorld();
  const mine = await authorised(world);
  const other = await authorised(world);
  const made = await good(pay(world, await authorised(world)), 201);
  const attempts: Record<string, () => Promise<Response>> = {
    "POST domestic-payments": () => pay(world, { ...other, payment: mine.payment }),
    "GET funds-confirmation": () =>
      call(world, world.tpp, mine.payment, `${CONSENTS}/${other.consentId}/funds-confirmation`),
    "GET domestic-payments/{id}": () =>
      call(world, world.tpp, mine.payment, `${PAYMENTS}/${made.Data.DomesticPaymentId}`),
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    await t.step(name, async () => {
      await assertChallenge(await unchanged(world, attempt), 403, FORBIDDEN);
    });
  }
  await t.step("each token still pays for its own", async () => {
    assertEquals((await pay(world, mine)).status, 201);
    assertEquals((await pay(world, other)).status, 201);
  });
});

Deno.test("bank endpoints refuse a TPP's token, by client credentials or by code [RG-N9] [RS7]", async (t) => {
  await using world = await openWorld();
  const { bound, payment, consentId } = await authorised(world);
  for (const [name, token] of Object.entries({ client_credentials: bound, authorization_code: payment })) {
    for (const path of [`/BANKA/back-channel-auth/v1/${consentId}`, "/BANKA/back-channel-payments/v1"]) {
      await t.step(`${name} ${path.split("/")[2]}`, async () => {
        const response = await unchanged(world, () => call(world, world.tpp, token, path));
        await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="bank", algs="PS256"');
      });
    }
  }
});
