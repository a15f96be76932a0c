/** A store that loses every race: each request is answered 503 with Retry-After, writes no data and can be repeated. */
import { assertEquals } from "@std/assert";
import { bodyOf, rejectionOf, type ResourceError } from "testing/answers.ts";
import { bankCall, consentPath, putStatus, reportFor } from "testing/back_channel.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { depart, pushed } from "support/departures.ts";
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
import { authorise, authorised, codeOf, redeem, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertPage, readForm, reportAccounts } from "testing/front_channel.ts";
import { onboardOnly } from "testing/participants.ts";
import { MANY_REGISTRATIONS, NEWCOMER, postRegistration } from "testing/registration.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Commit, Store } from "../../../../src/base/store/store.ts";
import { unchanged } from "testing/store_contents.ts";

/** An in-memory store. */
interface ConflictingStore extends Store {
  /** Makes every commit lose from now on, except those of rate limits and of copies of the directory's documents. */
  conflicts: boolean;
  /** Number of commits that lost. */
  lost: number;
}

/** Opens a store without conflicts. */
async function openConflictingStore(): Promise<ConflictingStore> {
  const store = await openTestStore();
  const conflicting: ConflictingStore = {
    ...store,
    conflicts: false,
    lost: 0,
    async commit(staged: Commit): Promise<boolean> {
      const counts = staged.writes.some(({ key }) => !/^(rate_bucket|kept_\w+)$/.test(`${key[0]}`));
      if (!conflicting.conflicts || !counts) return await store.commit(staged);
      conflicting.lost += 1;
      return false;
    },
  };
  return conflicting;
}

/** One request that can be sent again and again, and what it is answered without conflicts. */
interface Attempt {
  readonly send: () => Promise<Response>;
  readonly status: number;
}

/** Prepares an attempt before conflicts start. */
type Prepare = (env: Environment) => Promise<Attempt>;

const oauth: Record<string, Prepare> = {
  "a token by client credentials": (env) =>
    Promise.resolve({ send: () => requestToken(env, env.tpp), status: 200 }),
  "a pushed request": async (env) => {
    const bound = await clientToken(env, env.tpp);
    const { ConsentId } = (await createConsent(env, bound)).Data;
    return { send: () => push(env, ConsentId), status: 201 };
  },
  "a token by code": async (env) => {
    const flow = await toBank(env);
    const code = codeOf(await authorise(env, flow));
    return { send: () => redeem(env, { consentId: flow.consentId, code }), status: 200 };
  },
  "a registration": async (env) => {
    const newcomer = await onboardOnly(env, NEWCOMER);
    return { send: () => postRegistration(env, newcomer), status: 201 };
  },
};

const resources: Record<string, Prepare> = {
  "a consent": async (env) => {
    const bound = await clientToken(env, env.tpp);
    const body = JSON.stringify(consentBody());
    return { send: () => call(env, env.tpp, bound, CONSENTS, { body }), status: 201 };
  },
  "a consent's reading": async (env) => {
    const bound = await clientToken(env, env.tpp);
    const { ConsentId } = (await createConsent(env, bound)).Data;
    return { send: () => call(env, env.tpp, bound, `${CONSENTS}/${ConsentId}`), status: 200 };
  },
  "a payment": async (env) => {
    const flow = await authorised(env);
    return { send: () => pay(env, flow), status: 201 };
  },
  "a bank's reading of a consent": async (env) => {
    const flow = await toBank(env);
    const bound = await clientToken(env, env.bankA);
    return { send: () => call(env, env.bankA, bound, consentPath(flow.consentId)), status: 200 };
  },
  "payer accounts": async (env) => {
    const flow = await toBank(env);
    const bound = await clientToken(env, env.bankA);
    const options = { method: "PUT", body: JSON.stringify(reportFor(flow)), bound };
    return { send: () => bankCall(env, env.bankA, consentPath(flow.consentId), options), status: 200 };
  },
  "a payment's status": async (env) => {
    const { DomesticPaymentId } = (await good(pay(env, await authorised(env)), 201)).Data;
    const bound = await clientToken(env, env.bankA);
    const status = "AcceptedSettlementCompleted";
    return { send: () => putStatus(env, env.bankA, DomesticPaymentId, status, { bound }), status: 200 };
  },
};

for (const [surface, attempts] of [["OAuth", oauth], ["Resource", resources]] as const) {
  Deno.test(`${surface} requests: one that loses every race is 503 with Retry-After, and succeeds when repeated`, async (t) => {
    await steps(t, attempts, async (prepare, name) => {
      const store = await openConflictingStore();
      await using env = await openEnvironment({ ...MANY_REGISTRATIONS, store });
      const { send, status } = await prepare(env);
      const answer = await losing(env, store, name, send);
      assertEquals([answer.status, answer.headers.get("retry-after")], [503, "1"]);
      if (surface === "OAuth") {
        assertEquals((await rejectionOf(answer)).error, "temporarily_unavailable");
      } else {
        assertEquals((await bodyOf<ResourceError>(answer)).Errors[0]?.ErrorCode, "UK.OBIE.UnexpectedError");
      }
      const again = await send();
      assertEquals([again.status, (await again.text()).includes("error")], [status, false]);
    });
  });
}

const pages: Record<string, Prepare> = {
  "a departure for the bank": async (env) => {
    const link = await pushed(env, "BANKA");
    return { send: () => depart(env, link), status: 303 };
  },
  "a return from the bank": async (env) => {
    const { browser, handover } = await toBank(env, { body: IMPLICIT });
    const path = await returnPath(env, env.bankA, handover);
    return { send: () => browser.open(path), status: 303 };
  },
  "a return from the bank to the consent screen": async (env) => {
    const flow = await toBank(env);
    await reportAccounts(env, flow);
    const path = await returnPath(env, env.bankA, flow.handover);
    return { send: () => flow.browser.open(path), status: 303 };
  },
  "a decision on the consent screen": async (env) => {
    const flow = await toBank(env);
    await reportAccounts(env, flow);
    const screen = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
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
  await steps(t, pages, async (prepare, name) => {
    const store = await openConflictingStore();
    await using env = await openEnvironment({ store });
    const { send, status } = await prepare(env);
    const answer = await losing(env, store, name, send);
    assertEquals(answer.headers.get("retry-after"), "1");
    await assertPage(answer, 503, "unavailable");
    assertEquals((await send()).status, status);
  });
});

/** How many commits of each request lose, and what the log names as contended. Proofs are used up by a commit of their own. */
const CONTENDED: Readonly<Record<string, string>> = {
  "a token by client credentials": "9 access token, replayRecords",
  "a pushed request": "41 pushed request, replayRecords",
  "a token by code": "9 code, replayRecords",
  "a registration": "9 registration, replayRecords",
  "a consent": "9 consent, replayRecords",
  "a consent's reading": "1 replayRecords",
  "a payment": "9 payment, replayRecords",
  "a bank's reading of a consent": "1 replayRecords",
  "payer accounts": "9 payer accounts, replayRecords",
  "a payment's status": "9 payment status, replayRecords",
  "a departure for the bank": "40 authorization session",
  "a return from the bank": "8 authorization session",
  "a return from the bank to the consent screen": "8 authorization session",
  "a decision on the consent screen": "8 authorization session",
};

/** Sends the request while every commit loses. Asserts the number of commits and unchanged state. */
async function losing(
  env: Environment,
  store: ConflictingStore,
  name: string,
  send: () => Promise<Response>,
): Promise<Response> {
  store.conflicts = true;
  const answer = await unchanged(env, send);
  store.conflicts = false;
  const contended = env.logged.flatMap((line) => /contended: ([\w ]+)/.exec(line)?.[1] ?? []);
  assertEquals(`${store.lost} ${contended.join(", ")}`, CONTENDED[name]);
  return answer;
}
