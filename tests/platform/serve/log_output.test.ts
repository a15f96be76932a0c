/** `deno task serve` and a log collector that stalls or goes away: payments go on, and what was lost is counted. */
import { assert, assertEquals } from "@std/assert";
import { authorised, good, pay, requestToken } from "../../../scripts/testing/flows.ts";
import { openServedWorld, type ServedWorld } from "../../../scripts/testing/served_environment.ts";
import { AUTH_URL } from "../../../scripts/testing/environment.ts";

/** More lines than the pipe and the queue hold. */
const MANY = 8000;
const PARALLEL = 50;
const PATIENCE_MS = 20_000;

Deno.test("serve takes payments while its standard output is not read, then logs how many lines it dropped", async () => {
  await using world = await openServedWorld({ RATE_LIMITS: "registration=100/100" });
  world.process.output.stall();
  await within("requests are answered", flood(world, MANY));
  await within("a payment is made", good(pay(world, await authorised(world)), 201));
  world.process.output.resume();
  const { lines: dropped, level } = await within("loss is logged", world.process.logged("log.dropped"));
  assertEquals(level, "warn");
  await good(requestToken(world, world.tpp), 200);
  world.process.kill("SIGTERM");
  assertEquals((await world.process.ended).code, 0);
  const logged = world.process.lines.filter(({ event }) => event !== "log.dropped").length;
  const reports = world.process.lines.filter(({ event }) => event === "log.dropped");
  const total = reports.reduce((sum, { lines }) => sum + Number(lines), 0);
  assert(Number(dropped) > 0 && logged > 500, `${dropped} dropped, ${logged} logged`);
  const answered = world.process.lines.filter(({ path }) => path === "/health/live").length;
  assert(answered < MANY && answered + total >= MANY, `${answered} of ${MANY} logged, ${total} dropped`);
  assertEquals(world.process.lines.at(-1)?.["event"], "platform.stopped");
});

Deno.test("serve takes payments after its standard output was closed, and still stops on SIGTERM with 0", async () => {
  await using world = await openServedWorld();
  await world.process.output.close();
  await within("requests are answered", flood(world, 500));
  await within("a payment is made", good(pay(world, await authorised(world)), 201));
  await within("a token is issued", good(requestToken(world, world.tpp), 200));
  world.process.kill("SIGTERM");
  assertEquals(await within("it stops", world.process.ended), { code: 0, stderr: "" });
});

Deno.test("serve stops on SIGTERM with 0 while its standard output is not read", async () => {
  await using world = await openServedWorld();
  world.process.output.stall();
  await within("requests are answered", flood(world, 3000));
  world.process.kill("SIGTERM");
  assertEquals(await within("it stops", world.process.exited), 0);
});

/** Requests of a probe, a log line each. */
async function flood(world: ServedWorld, count: number): Promise<void> {
  const one = async (): Promise<void> => {
    const answer = await world.browser(new Request(`${AUTH_URL}/health/live`));
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
