/** Requests that wait for one fetch of the directory: they keep no place in work from the request that fetches. */
import { assertEquals } from "@std/assert";
import { openEnvironment } from "testing/environment.ts";
import { pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";

/** More than there are places for participants. */
const REQUESTS = 40;
const PATIENCE_MS = 20_000;

Deno.test("more requests than places wait for one fetch of a key set, and all go on", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_REQUESTS_IN_WORK: "8" } });
  const flow = await authorised(env);
  env.now += 301_000; // every copy is old
  const directory = env.network;
  const gate = Promise.withResolvers<void>();
  env.network = async (request) => {
    await gate.promise;
    return await directory(request);
  };
  const asked = env.fetched.length;
  const requests = Array.from({ length: REQUESTS }, async () => {
    const response = await pay(env, flow); // payments may take every place
    await response.body?.cancel();
    return response.status;
  });
  const settled = Promise.all(requests);
  while (env.fetched.length === asked) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(done, 200)); // the others have come as far as they can
  gate.resolve();
  const late = Promise.withResolvers<readonly number[]>();
  const timer = setTimeout(() => late.resolve([]), PATIENCE_MS);
  assertEquals((await Promise.race([settled, late.promise])).toSorted(), [
    201,
    ...Array(REQUESTS - 1).fill(400),
  ]);
  clearTimeout(timer);
});
