/** Access tokens of participants by client credentials, used as long as they are good. */
import type { TokenAnswer } from "../../testing/answers.ts";
import { type Answer, type Line, persistently } from "./calls.ts";
import type { Party } from "./parties.ts";
import { formRequest, type ResourceCall, resourceRequest } from "./requests.ts";
import type { Simulation, Token } from "./simulation.ts";

/** A token is not used in the last minutes of its life: a request may be under way for long. */
const SPARE_MS = 300_000;

/**
 * A resource request with the caller's own token, tried until it is settled, and once more with another token if the
 * first one may have ended early. The bank is the path's first part.
 */
export async function callResource(line: Line, call: Omit<ResourceCall, "token">): Promise<Answer> {
  const { simulation } = line;
  const bank = call.path.split("/")[1] ?? "";
  const used = new Set<Token>();
  const settled = (): Promise<Answer> =>
    persistently(line, async () => {
      const token = await clientToken(line, call.who, bank);
      used.add(token);
      return resourceRequest(simulation, { ...call, token });
    });
  const answer = await settled();
  if (answer.status !== 401 || ![...used].some(({ mayEndEarly }) => mayEndEarly)) return answer;
  simulation.tokens.delete(nameOf(call.who, bank));
  return await settled();
}

function nameOf({ orgId }: Party, bank: string): string {
  return `${orgId} ${bank}`;
}

/** A token for a bank's endpoints; those who need one at the same time share it. */
async function clientToken(line: Line, who: Party, bank: string): Promise<Token> {
  const { simulation } = line;
  const name = nameOf(who, bank);
  const known = await simulation.tokens.get(name);
  if (known !== undefined && simulation.scheduler.now() < known.expiresAt - SPARE_MS) return known;
  const fresh = grant(line, who, bank);
  simulation.tokens.set(name, fresh);
  return await fresh;
}

async function grant(line: Line, who: Party, bank: string): Promise<Token> {
  const { simulation } = line;
  const form = { grant_type: "client_credentials", scope: who.role === "PISP" ? "payments" : "bank" };
  const answer = await persistently(line, () => formRequest(simulation, who, bank, "token", form));
  if (answer.status !== 200) {
    simulation.violated("nothing valid is rejected", `a token was answered ${answer.status} ${answer.text}`);
  }
  return tokenOf(simulation, answer.text);
}

/** The token in an answer that has just come. */
export function tokenOf({ scheduler, isClockWrong }: Simulation, text: string): Token {
  const { access_token: value = "", expires_in: seconds = 0 } = JSON.parse(text) as Partial<TokenAnswer>;
  return { value, expiresAt: scheduler.now() + seconds * 1000, mayEndEarly: isClockWrong() };
}
