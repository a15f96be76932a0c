/** What a test finds in the store beside the histories of operators, which have their attempts (contract OP21). */
import type { Environment } from "testing/environment.ts";

export async function besideAttempts(env: Environment): Promise<readonly unknown[]> {
  return (await env.snapshot()).filter(({ key: [record, subject], value }) =>
    record !== "log_waiting" && record !== "controlled_party" &&
    !(record === "audit" && isOperator(subject)) &&
    !(record === "people_log" && isOperator(Object(value)["subject"]))
  );
}

function isOperator(subject: unknown): boolean {
  return String(subject).startsWith("operator ");
}
