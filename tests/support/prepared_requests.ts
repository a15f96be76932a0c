/** Requests made beforehand, so that what is measured or repeated is the platform's work alone, not their signing. */
import type { Participant } from "testing/participants.ts";
import type { FlowEnvironment } from "testing/flows.ts";

/** A request that waits to be sent, once. */
export interface Prepared {
  send(): Promise<Response>;
}

/** The request that an act would send to the API host; the act gets an empty answer in its place. */
export async function prepared<W extends FlowEnvironment>(
  env: W,
  act: (env: W) => Promise<unknown>,
): Promise<Prepared> {
  const caught: [Request, Participant | undefined][] = [];
  const api = (request: Request, as?: Participant): Promise<Response> => {
    caught.push([request, as]);
    return Promise.resolve(new Response());
  };
  await act(Object.assign(Object.create(env), { api }));
  const [first, ...more] = caught;
  if (first === undefined || more.length > 0) throw new Error(`${caught.length} requests in place of one`);
  return { send: () => env.api(...first) };
}
