/** `deno task serve` and a log collector that stalls or goes away: payments go on, and what was lost is counted. */
import { assert, assertEquals } from "@std/assert";
import { authorised, good, pay, requestToken } from "../../../scripts/testing/flows.ts";
import {
  openServedEnvironment,
  type ServedEnvironment,
} from "../../../scripts/testing/served_environment.ts";
import { AUTH_URL } from "../../../scripts/testing/environment.ts";

/** More lines than the pipe and the queue hold. */
const MANY = 8000;
const PARALLEL = 50;
const PATIENCE_MS = 20_000;

Deno.test("serve takes payments while its standard output is not read, then logs how many lines it dropped", async () => {
  await using env = await openServedEnvironment({ RATE_LIMITS: "registration=100/100" });
  env.process.output.stall();
  await within("requests are answered", flood(env, MANY));
  await within("a payment is made", good(pay(env, await authorised(env)), 201));
  env.process.output.resume();
  const { lines: dropped, level } = await within("loss is logged", env.process.logged("log.dropped"));
  assertEquals(level, "warn");
  await good(requestToken(env, env.tpp), 200);
  env.process.kill("SIGTERM");
  assertEquals((await env.process.ended).code, 0);
  const logged = env.process.lines.filter(({ event }) => event !== "log.dropped").length;
  const reports = env.process.lines.filter(({ event }) => event === "log.dropped");
  const total = reports.reduce((sum, { lines }) => sum + Number(lines), 0);
  assert(Number(dropped) > 0 && logged > 500, `${dropped} dropped, ${logged} logged`);
  const answered = env.process.lines.filter(({ path }) => path === "/health/live").length;
  assert(answered < MANY && answered + total >= MANY, `${answered} of ${MANY} logged, ${total} dropped`);
  assertEquals(env.process.lines.at(-1)?.["event"], "platform.stopped");
});

Deno.test("serve takes payments after its standard output was closed, and still stops on SIGTERM with 0", async () => {
  await using env = await openServedEnvironment();
  await env.process.output.close();
  await within("requests are answered", flood(env, 500));
  await within("a payment is made", good(pay(env, await authorised(env)), 201));
  await within("a token is issued", good(requestToken(env, env.tpp), 200));
  env.process.kill("SIGTERM");
  assertEquals(await within("it stops", env.process.ended), { code: 0, stderr: "" });
});

Deno.test("serve stops on SIGTERM with 0 while its standard output is not read", async () => {
  await using env = await openServedEnvironment();
  env.process.output.stall();
  await within("requests are answered", flood(env, 3000));
  env.process.kill("SIGTERM");
  assertEquals(await within("it stops", env.process.exited), 0);
});

/** Requests of a probe, a log line each. */
async function flood(env: ServedEnvironment, count: number): Promise<void> {
  const one = async (): Promise<void> => {
    const answer = await env.browser(new Request(`${AUTH_URL}/health/live`));
    await answer.body?.cancel();
    assertEquals(answer.status, 200);
  };
  for (let sent = 0; sent < count; sent += PARALLEL) {
    await Promise.all(Array.from({ length: PARALLEL }, one));
  }
}

async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${PATIENCE_MS} ms: ${what}`)), PATIENCE_MS);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
