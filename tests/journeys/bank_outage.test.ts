/**
 * A bank that is killed and comes back a minute later: a process of its own in a sandbox whose clock is moved, a TPP
 * that pays meanwhile, and what it sees until the payment has settled.
 */
import { paymentSchema } from "../../src/platform/core/payments/payment_representation.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { goThroughAuthorization } from "../../src/sandbox/customer/customer.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import {
  type AccessToken,
  checkCallback,
  exchangeCode,
  grantClientToken,
  pushAuthorization,
} from "../../src/client/tpp/authorization.ts";
import { createConsent, createPayment } from "../../src/client/tpp/domestic_payments.ts";
import { emptyMessageLog } from "../../src/client/tpp/message_log.ts";
import { openFlow, type PaymentFlow } from "../../src/client/tpp/payment_journey.ts";
import { type PaymentRequest, paymentRequest } from "../../src/client/tpp/payment_request.ts";
import { getResource } from "../../src/client/tpp/resource_request.ts";
import { openTpp, type Tpp } from "../../src/client/tpp/tpp.ts";
import type { LogLine, Payment } from "testing/answers.ts";
import { sandboxClock } from "support/sandbox_clock.ts";
import { firstPayment, onboardOutsiders, type Outsiders, startOwnBank } from "support/own_bank.ts";

const ACCEPTED = "AcceptedSettlementInProcess";
const COMPLETED = "AcceptedSettlementCompleted";

Deno.test("a payment to a bank that is down for a minute is taken, tried, put off, delivered once and settled [D1] [D4] [PT2] [PT3] [PT5]", async (t) => {
  await using ecosystem = await openPooledSandbox();
  const { dir } = ecosystem;
  const clock = sandboxClock(ecosystem.endpoints);
  const outsiders = await onboardOutsiders(dir);
  let bank = await startOwnBank(dir);
  await firstPayment(dir, outsiders); // registers the TPP; the bank's circuit is closed
  const tpp = await openTpp({
    dir,
    name: "mine",
    endpoints: ecosystem.endpoints,
    redirectUri: outsiders.redirectUri,
    now: clock.now,
  });
  try {
    const first = await agreed(tpp, outsiders);
    const [second, third] = [await agreed(tpp, outsiders), await agreed(tpp, outsiders)];
    const more: Agreed[] = [];
    while (more.length < 4) more.push(await agreed(tpp, outsiders));
    await bank.stop("SIGKILL");
    const paidAt = clock.now();
    const { id, made } = await pay(first);

    await t.step("201 Pending at once: the payment is the platform's to deliver", () => {
      assertEquals([made.Status, made.StatusUpdateDateTime], ["Pending", made.CreationDateTime]);
      assert(Math.abs(Date.parse(made.CreationDateTime) - paidAt) < 5000);
    });

    await t.step("each attempt fails and the next one comes later", async () => {
      for (const [failures, seconds] of [[1, 0], [2, 2], [3, 3], [4, 5], [5, 10]] as const) {
        await clock.advance(seconds); // 1, 2, 4, 8 s and up to a quarter more
        await until(async () => (await failuresOf(dir, id)).length >= failures);
        assertEquals(await failuresOf(dir, id), Array.from({ length: failures }, (_, index) => index + 1));
      }
    });

    const ids = [id];
    for (const agreement of more) ids.push((await pay(agreement)).id);
    const { id: other, made: alsoMade } = await pay(second);
    ids.push(other);
    await t.step(
      "after the fifth payment that failed the bank is left alone: the next one is not even tried",
      async () => {
        for (const failed of ids.slice(1, 5)) assertEquals((await failuresOf(dir, failed))[0], 1);
        assertEquals(alsoMade.Status, "Pending");
        assertEquals(await failuresOf(dir, other), []);
        assertEquals((await failuresOf(dir, id)).length, 5);
        assertEquals((await seen(first, id)).Status, "Pending");
      },
    );

    bank = await startOwnBank(dir);
    await clock.advance(Math.max(31, 60 - (clock.now() - paidAt) / 1000)); // the bank was left alone for 30 s
    const backAt = clock.now();
    assert(backAt - paidAt >= 60_000);

    await t.step("the bank is back: all orders are delivered, each of them once", async () => {
      await until(async () => (await deliveredOf(dir)).length > 0); // the probe
      await clock.advance(7); // the others have waited for what it found
      await until(async () => (await deliveredOf(dir)).length === ids.length);
      assertEquals((await deliveredOf(dir)).toSorted(), ids.toSorted());
      const printed = await bank.said(RegExp(`(^order .*\n(.*\n)*){${ids.length}}`, "m"));
      const orders = [...printed.matchAll(/^order (.*)$/gm)].map(([, order]) => order);
      assertEquals(orders.toSorted(), ids.map((paid) => `${paid}: EUR 4.20 ${ACCEPTED}`).toSorted());
    });

    await t.step(
      "the TPP sees them settled since the bank was back, and made when they were made",
      async () => {
        for (
          const [agreement, paid, { CreationDateTime }] of [[first, id, made], [
            second,
            other,
            alsoMade,
          ]] as const
        ) {
          await until(async () => (await seen(agreement, paid)).Status === COMPLETED); // the bank reports it a second later
          const settled = await seen(agreement, paid);
          assertEquals(settled.CreationDateTime, CreationDateTime);
          const since = Date.parse(settled.StatusUpdateDateTime);
          assert(since >= backAt - 1000 && since <= clock.now(), settled.StatusUpdateDateTime);
        }
      },
    );

    await t.step("down and back once more: what was delivered stays delivered", async () => {
      await bank.stop("SIGKILL");
      const { id: late } = await pay(third);
      assertEquals(await failuresOf(dir, late), [1]);
      bank = await startOwnBank(dir); // the new process has no memory of past orders and would print any that comes again
      await clock.advance(2);
      const printed = await bank.said(RegExp(`^order ${late}: .*\n`, "m"));
      assertEquals(printed.match(/^order .*$/gm), [`order ${late}: EUR 4.20 ${ACCEPTED}`]);
      await until(async () => (await deliveredOf(dir)).length > ids.length);
      assertEquals((await deliveredOf(dir)).toSorted(), [...ids, late].toSorted());
    });
  } finally {
    tpp.close();
    await bank.stop();
  }
});

/** A consent that the customer has agreed to, ready to be paid with. */
interface Agreed {
  readonly flow: PaymentFlow;
  readonly token: AccessToken;
  readonly request: PaymentRequest;
  readonly consentId: string;
}

async function agreed(tpp: Tpp, { bankCode, redirectUri }: Outsiders): Promise<Agreed> {
  const flow = await openFlow(tpp, bankCode, emptyMessageLog());
  const request = paymentRequest({
    orderId: crypto.randomUUID(),
    description: "Lunch of the day",
    amount: "4.20",
    merchant: { name: "Company Limited", iban: "FR1420041010050500013M02606", categoryCode: "5812" },
  });
  const { consentId } = await createConsent(flow, await grantClientToken(flow), request);
  const pending = await pushAuthorization(flow, consentId);
  const callback = await goThroughAuthorization({ startUrl: pending.url, redirectUri }, () => {});
  const token = await exchangeCode(flow, pending, checkCallback(flow, pending, callback));
  return { flow, token, request, consentId };
}

/** Its id, and what the TPP reads of it right after the 201. */
async function pay(agreement: Agreed): Promise<{ readonly id: string; readonly made: Payment["Data"] }> {
  const { flow, token, request, consentId } = agreement;
  const { paymentId: id } = await createPayment(flow, token, { consentId, ...request }); // throws unless it is a 201
  assertMatch(id, /^[0-9a-f-]{36}$/);
  return { id, made: await seen(agreement, id) };
}

async function seen({ flow }: Agreed, id: string): Promise<Payment["Data"]> {
  const path = `domestic-payments/v1/${id}`;
  return paymentSchema.parse(await getResource(flow, await grantClientToken(flow), path)).Data;
}

/** How often a push of the payment had failed at each failure, as the platform logged it. */
async function failuresOf(dir: string, id: string): Promise<readonly number[]> {
  return (await logged(dir, "order.not_delivered", id)).map(({ failures }) => Number(failures));
}

/** The delivered orders since the bank was killed. */
async function deliveredOf(dir: string): Promise<readonly string[]> {
  return (await logged(dir, "order.delivered")).slice(1).map(({ paymentId }) => String(paymentId));
}

async function logged(dir: string, event: string, id?: string): Promise<readonly LogLine[]> {
  const lines = (await Deno.readTextFile(`${dir}/sandbox.log`)).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as LogLine)
    .filter((line) => line.event === event && (id === undefined || line.paymentId === id));
}

/** Resolves once it is so; the platform looks for due orders every second. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < 600; look++) {
    if (await isSo()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error("it never happened");
}
