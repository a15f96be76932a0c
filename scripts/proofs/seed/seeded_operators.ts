/** What operators have done lately in a seeded store. */
import type { EmptyEnvironment } from "../../testing/environment.ts";
import type { TestOperator } from "../../testing/operators.ts";
import type { Parties } from "./parties.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

/** Blocks, holds, an outage that is announced and one that is over, and a proposal, if two people are needed. */
export async function operate(env: EmptyEnvironment, { banks, tpps }: Parties): Promise<void> {
  const change = async (path: string, data: object, as: TestOperator = "maria"): Promise<void> => {
    const body = JSON.stringify({ Data: data });
    const headers = { "content-type": "application/json" };
    const answer = await env.asOperator(`/operations${path}`, { method: "POST", headers, body }, as);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    await answer.body?.cancel();
    env.now += MINUTE_MS;
  };
  const outage = (from: number, until: number, Text: string): object => ({
    FromDateTime: new Date(env.now + from).toISOString(),
    UntilDateTime: new Date(env.now + until).toISOString(),
    Text,
    Reason: "The bank's desk has announced it, ticket 4711.",
  });
  env.now -= 10 * MINUTE_MS;
  const [late, held = late] = banks.toReversed();
  const [blocked, revoked] = tpps.slice(-2);
  await change(
    `/banks/${late?.orgId}/outages`,
    outage(DAY_MS, DAY_MS + 240 * MINUTE_MS, "Maintenance of the core banking system."),
  );
  await change(
    `/banks/${held?.orgId}/hold`,
    { Reason: "The bank reports duplicate bookings, ticket 4712." },
    "operator",
  );
  await change(`/banks/${held?.orgId}/release`, { Reason: "The bank has found no duplicates." }, "operator");
  await change(`/software/${blocked?.clientId}/block`, {
    Reason: "Payers report payments that they did not begin, ticket 4713.",
  }, "security");
  await change(`/software/${revoked?.clientId}/revoke-tokens`, {
    Reason: "Its signing key was seen in a public repository.",
  });
}
