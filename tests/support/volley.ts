/** Requests that are all ready, signed and proven, before the first is sent: then all of them at once. */
import type { Participant } from "testing/participants.ts";
import type { Environment } from "testing/environment.ts";

/** Makes a request in the environment that it is given, by the steps of `flows.ts`. */
export type Attempt = (env: Environment, number: number) => Promise<Response>;

/** Sends so many requests at once; their answers in the order of their numbers. */
export async function volley(
  env: Environment,
  count: number,
  attempt: Attempt,
): Promise<readonly Response[]> {
  const loaded = await Promise.all(Array.from({ length: count }, (_, number) => load(env, attempt, number)));
  return await Promise.all(loaded.map(([request, as]) => env.api(request, as)));
}

/** The request that the attempt would send. */
async function load(
  env: Environment,
  attempt: Attempt,
  number: number,
): Promise<readonly [Request, Participant | undefined]> {
  let loaded: readonly [Request, Participant | undefined] | undefined;
  const api = (request: Request, as?: Participant): Promise<Response> => {
    loaded = [request, as];
    return Promise.resolve(new Response());
  };
  await attempt(Object.assign(Object.create(env), { api }), number);
  if (loaded === undefined) throw new Error("nothing was sent");
  return loaded;
}

/** How many answers had each status. */
export function tally(answers: readonly Response[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
