/** Environments with retention periods, and the time that passes in them. */
import type { Store } from "../../src/base/store/store.ts";
import { auditPage } from "../../src/platform/evidence/audit_trail.ts";
import { authorised } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { BODY } from "./personal_case.ts";

export const DAY_MS = 86_400_000;
export const DAYS = {
  PLATFORM_KEEP_CASES_DAYS: "100",
  PLATFORM_ERASE_CASES_DAYS: "200",
  PLATFORM_DELETE_HISTORIES_DAYS: "300",
};

export async function openRetaining(
  store?: Store,
  days: Readonly<Record<string, string>> = DAYS,
): Promise<Environment> {
  return await openEnvironment({ store, environment: days });
}

export async function settled(env: Environment): Promise<{ consentId: string; paymentId: string }> {
  const flow = await authorised(env, { body: BODY });
  const { DomesticPaymentId: paymentId } = (await good(pay(env, flow), 201)).Data;
  await good(putStatus(env, env.bankA, paymentId, "AcceptedSettlementCompleted"), 200);
  return { consentId: flow.consentId, paymentId };
}

/** Lets the platform run for so many days. */
export async function pass(env: Environment, days: number): Promise<void> {
  await grow(env);
  await elapse(env, days * DAY_MS);
}

/** Lets the platform run for so many milliseconds, without new places in the log. */
export async function elapse(env: Environment, ms: number): Promise<void> {
  await env.platform.followTime();
  env.now += ms;
  await env.platform.followTime();
}

/** The background work of an hour. Returns how many cases were erased or deleted. */
export async function work(env: Environment): Promise<number> {
  env.now += 3_600_000;
  const { platform } = env;
  await platform.followTime();
  const retired = await platform.retireCases();
  while (await platform.finishErasures() > 0);
  while (await platform.finishDeletions() > 0);
  return retired;
}

export async function grow(env: Environment): Promise<void> {
  env.now += 1000;
  await env.platform.growLog();
}

export async function applied(env: Environment, name: string): Promise<readonly string[]> {
  const entries = await auditPage(env.store, { subject: `retention ${name}`, limit: 100 });
  return entries.map(({ entry: { event, actor, reason } }) => `${event} ${actor} ${reason}`);
}

export async function recordsOf(env: Environment, ids: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const prefix of ["consent", "payment", "payment_order", "audit", "evidence", "case_deletion"]) {
    const entries = await env.raw.list({ prefix: [prefix], limit: 1000 });
    found.push(
      ...entries.map(({ key }) => key.join("/")).filter((key) => ids.some((id) => key.includes(id))),
    );
  }
  return found;
}
