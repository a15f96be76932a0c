/** What a test finds in the store beside the histories of operators, which have their attempts (contract OP21). */
import type { Environment } from "testing/environment.ts";

export async function besideAttempts(env: Environment): Promise<readonly unknown[]> {
  return (await env.snapshot()).filter(({ key: [record, subject] }) =>
    record !== "log_waiting" && !(record === "audit" && String(subject).startsWith("operator ")) &&
    record !== "controlled_party"
  );
}
