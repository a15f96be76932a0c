/**
 * The single-use values of a request are used up in the commit of its effect (contract FAPI-G19): a process that ends
 * between the two would leave an effect whose request can be sent again.
 */
import { assertEquals } from "@std/assert";
import type { Commit } from "../../src/base/store/store.ts";
import { deliverJws, waitingPath } from "support/delivered_result.ts";
import { polled } from "../platform/events/poll.ts";
import { CALLBACK, subscribed } from "../platform/events/subscribing.ts";
import { codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { IMPLICIT, signedReturn } from "testing/bank_return.ts";
import { openEnvironment } from "testing/environment.ts";
import { clientToken, createConsent, dpopKey, good, pay, push } from "testing/flows.ts";
import { ACCOUNTS, reportAccounts } from "testing/front_channel.ts";
import { sharedToken } from "testing/shared_token.ts";
import { openTestStore } from "testing/test_store.ts";

const SPENT = "spent_jwt";

Deno.test("the effect of each kind of request and the single-use values that it has shown are one commit [FAPI-G19]", async (t) => {
  const store = await openTestStore();
  const commits: Commit[] = [];
  const noted = {
    ...store,
    commit: (commit: Commit): Promise<boolean> => {
      commits.push(commit);
      return store.commit(commit);
    },
  };
  await using env = await openEnvironment({
    store: noted,
    resultsOnBackChannel: true,
    eventNotificationUri: { tpp: CALLBACK },
  });
  /** Makes a request whose effect is a write of the record, with so many single-use values. */
  const judge = async <T>(
    name: string,
    record: string,
    spent: number,
    request: () => Promise<T>,
  ): Promise<T> => {
    const from = commits.length;
    const done = await request();
    const kinds = commits.slice(from).map(({ writes }) => writes.map(({ key }) => key[0] ?? ""));
    const together = kinds.filter((written) => written.includes(record))
      .map((written) => written.filter((kind) => kind === SPENT).length);
    await t.step(name, () => assertEquals(together, [spent], JSON.stringify(kinds)));
    return done;
  };
  await judge("a token of the client", "access_token", 2, () => clientToken(env, env.tpp));
  const body = IMPLICIT;
  const bound = await sharedToken(env, env.tpp, "BANKA");
  const { Data: { ConsentId } } = await judge(
    "a consent",
    "consent",
    1,
    () => createConsent(env, bound, body),
  );
  await judge("a pushed request", "pushed_request", 1, () => good(push(env, ConsentId), 201));
  const reported = await toBank(env);
  await sharedToken(env, env.bankA, "BANKA");
  await judge("reported accounts", "consent", 1, () => reportAccounts(env, reported, [ACCOUNTS[0]]));
  const flow = await toBank(env, { body });
  const jws = await signedReturn(env, flow);
  await judge(
    "a delivered result",
    "authorization_session",
    2,
    () => good(deliverJws(env, env.bankA, jws), 200),
  );
  const code = codeOf(await flow.browser.open(waitingPath(flow)));
  const redeemed = await judge(
    "a token of the customer",
    "access_token",
    2,
    () => good(redeem(env, { consentId: flow.consentId, code }), 200),
  );
  const payment = { token: redeemed.access_token, key: await dpopKey() };
  const { Data: { DomesticPaymentId } } = await judge(
    "a payment",
    "payment",
    1,
    () => good(pay(env, { ...flow, body, payment }), 201),
  );
  await judge(
    "a status report",
    "payment",
    1,
    () => good(putStatus(env, env.bankA, DomesticPaymentId, "AcceptedSettlementCompleted"), 200),
  );
  await judge("a subscription", "event_subscription", 1, () => subscribed(env, { bound }));
  const { events } = await polled(env, undefined, { bound });
  const ack = events.map(({ claims }) => claims.jti ?? "");
  await judge(
    "acknowledged events",
    "event_finished",
    1,
    () => polled(env, { ack, maxEvents: 0 }, { bound }),
  );
});
