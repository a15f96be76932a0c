/** A store that loses every race: each request is answered 503 with Retry-After, writes nothing and can be repeated. */
import { assert, assertEquals } from "@std/assert";
import { bankCall, consentPath, putStatus, reportFor } from "../../../scripts/testing/back_channel.ts";
import { IMPLICIT } from "../../../scripts/testing/bank_return.ts";
import { type ConflictingStore, openConflictingStore } from "../../support/conflicting_store.ts";
import { depart, pushed } from "../../support/departures.ts";
import {
  authorise,
  authorised,
  call,
  clientToken,
  codeOf,
  consentBody,
  createConsent,
  good,
  pay,
  push,
  redeem,
  requestToken,
  returnPath,
  toBank,
} from "../../../scripts/testing/flows.ts";
import {
  assertNothingChanges,
  assertPage,
  readForm,
  reportAccounts,
} from "../../../scripts/testing/front_channel.ts";
import { onboardOnly } from "../../../scripts/testing/participants.ts";
import { MANY_REGISTRATIONS, NEWCOMER, postRegistration } from "../../../scripts/testing/registration.ts";
import { CONSENTS } from "../../support/resource_calls.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

/** One request that can be sent again and again, and what it is answered without conflicts. */
interface Attempt {
  readonly send: () => Promise<Response>;
  readonly status: number;
}

/** Prepares an attempt while nothing conflicts yet. */
type Prepare = (world: World) => Promise<Attempt>;

const oauth: Record<string, Prepare> = {
  "a token by client credentials": (world) =>
    Promise.resolve({ send: () => requestToken(world, world.tpp), status: 200 }),
  "a pushed request": async (world) => {
    const bound = await clientToken(world, world.tpp);
    const { ConsentId } = (await createConsent(world, bound)).Data;
    return { send: () => push(world, ConsentId), status: 201 };
  },
  "a token by code": async (world) => {
    const flow = await toBank(world);
    const code = codeOf(await authorise(world, flow));
    return { send: () => redeem(world, { consentId: flow.consentId, code }), status: 200 };
  },
  "a registration": async (world) => {
    const newcomer = await onboardOnly(world, NEWCOMER);
    return { send: () => postRegistration(world, newcomer), status: 201 };
  },
};

const resources: Record<string, Prepare> = {
  "a consent": async (world) => {
    const bound = await clientToken(world, world.tpp);
    const body = JSON.stringify(consentBody());
    return { send: () => call(world, world.tpp, bound, CONSENTS, { body }), status: 201 };
  },
  "a consent's reading": async (world) => {
    const bound = await clientToken(world, world.tpp);
    const { ConsentId } = (await createConsent(world, bound)).Data;
    return { send: () => call(world, world.tpp, bound, `${CONSENTS}/${ConsentId}`), status: 200 };
  },
  "a payment": async (world) => {
    const flow = await authorised(world);
    return { send: () => pay(world, flow), status: 201 };
  },
  "a bank's reading of a consent": async (world) => {
    const flow = await toBank(world);
    const bound = await clientToken(world, world.bankA);
    return { send: () => call(world, world.bankA, bound, consentPath(flow.consentId)), status: 200 };
  },
  "payer accounts": async (world) => {
    const flow = await toBank(world);
    const bound = await clientToken(world, world.bankA);
    const options = { method: "PUT", body: JSON.stringify(reportFor(flow)), bound };
    return { send: () => bankCall(world, world.bankA, consentPath(flow.consentId), options), status: 200 };
  },
  "a payment's status": async (world) => {
    const { DomesticPaymentId } = (await good(pay(world, await authorised(world)), 201)).Data;
    const bound = await clientToken(world, world.bankA);
    const status = "AcceptedSettlementCompleted";
    return { send: () => putStatus(world, world.bankA, DomesticPaymentId, status, { bound }), status: 200 };
  },
};

for (const [surface, attempts] of [["OAuth", oauth], ["Resource", resources]] as const) {
  Deno.test(`${surface} requests: one that loses every race is 503 with Retry-After, and succeeds when repeated`, async (t) => {
    for (const [name, prepare] of Object.entries(attempts)) {
      await t.step(name, async () => {
        const store = await openConflictingStore();
        await using world = await openWorld({ ...MANY_REGISTRATIONS, store });
        const { send, status } = await prepare(world);
        const answer = await losing(world, store, send);
        assertEquals([answer.status, answer.headers.get("retry-after")], [503, "1"]);
        const { error, Errors } = await answer.json();
        if (surface === "OAuth") assertEquals(error, "temporarily_unavailable");
        else assertEquals(Errors[0].ErrorCode, "UK.OBIE.UnexpectedError");
        const again = await send();
        assertEquals([again.status, (await again.text()).includes("error")], [status, false]);
      });
    }
  });
}

const pages: Record<string, Prepare> = {
  "a departure for the bank": async (world) => {
    const link = await pushed(world, "BANKA");
    return { send: () => depart(world, link), status: 303 };
  },
  "a return from the bank": async (world) => {
    const { browser, handover } = await toBank(world, { body: IMPLICIT });
    const path = await returnPath(world, world.bankA, handover);
    return { send: () => browser.open(path), status: 303 };
  },
  "a return from the bank to the consent screen": async (world) => {
    const flow = await toBank(world);
    await reportAccounts(world, flow);
    const path = await returnPath(world, world.bankA, flow.handover);
    return { send: () => flow.browser.open(path), status: 303 };
  },
  "a decision on the consent screen": async (world) => {
    const flow = await toBank(world);
    await reportAccounts(world, flow);
    const screen = await flow.browser.open(await returnPath(world, world.bankA, flow.handover));
    const location = screen.headers.get("location") ?? "";
    const { csrf, action } = readForm(await (await flow.browser.open(location)).text());
    const send = () =>
      flow.browser.open(action, {
        method: "POST",
        body: new URLSearchParams({ csrf, decision: "accept", account: "0" }),
      });
    return { send, status: 303 };
  },
};

Deno.test("A customer's step that loses every race is a page with 503 and Retry-After, and succeeds when repeated", async (t) => {
  for (const [name, prepare] of Object.entries(pages)) {
    await t.step(name, async () => {
      const store = await openConflictingStore();
      await using world = await openWorld({ store });
      const { send, status } = await prepare(world);
      const answer = await losing(world, store, send);
      assertEquals(answer.headers.get("retry-after"), "1");
      await assertPage(answer, 503, "unavailable");
      assertEquals((await send()).status, status);
    });
  }
});

/** Sends the request while every commit loses: a bounded number of them, and nothing has changed. */
async function losing(
  world: World,
  store: ConflictingStore,
  send: () => Promise<Response>,
): Promise<Response> {
  store.conflicts = true;
  const answer = await assertNothingChanges(world, send);
  store.conflicts = false;
  assert(store.lost > 0 && store.lost <= 20, `${store.lost} commits`);
  return answer;
}
