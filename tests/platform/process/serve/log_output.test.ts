/** `deno task serve` and a log collector that stalls or goes away: payments go on, and what was lost is counted. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type LogLine, present, type Readiness } from "testing/answers.ts";
import { good, pay, requestToken } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  asTheProxy,
  openFixture,
  openServedEnvironment,
  type Send,
  type ServedEnvironment,
  settle,
} from "testing/served_environment.ts";
import { inShell, startPlatform } from "testing/served_platform.ts";
import { AUTH_URL } from "testing/environment.ts";

/** More lines than the pipe and the queue hold. */
const MANY = 8000;
/** The size of a log file that may not grow: a multiple of 512. */
const FULL_BYTES = 268_435_456;
const PARALLEL = 50;
const PATIENCE_MS = 20_000;

Deno.test("serve takes payments while its standard output is not read, then logs how many lines it dropped", async () => {
  await using env = await openServedEnvironment({ PLATFORM_RATE_LIMITS: "registration=100/100" });
  env.process.output.stall();
  await within("requests are answered", flood(env, MANY));
  await within("a payment is made", good(pay(env, await authorised(env)), 201));
  const { ok, detail } = await logHealth(env);
  assertEquals(ok, false);
  assertMatch(detail, /^\d+ lines were dropped since the start$/);
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

/** The platform's standard output and standard error are a file that takes no more bytes (`/dev/full`). */
Deno.test("serve takes payments while its standard output and error are full, and says so in its readiness", async () => {
  await using fixture = await openFixture();
  const process = await startPlatform(
    fixture.folder,
    fixture.env,
    {},
    inShell('exec "$@" >/dev/full 2>/dev/full'),
  );
  try {
    const send = asTheProxy(fixture.env["PORT"] ?? "");
    await listening(send);
    const env = { now: Date.now(), ...await settle(fixture, send), api: send, browser: send };
    await within("a payment is made", good(pay(env, await authorised(env)), 201));
    const { ok, detail } = await logHealth(env);
    assertEquals([ok, detail], [false, "the last write failed: No space left on device (os error 28)"]);
  } finally {
    process.kill("SIGTERM");
    assertEquals(await within("it stops", process.exited), 0);
  }
});

Deno.test("serve writes every line to a file that was full for a while", async () => {
  await using fixture = await openFixture();
  const file = `${fixture.folder}/log`;
  await (await Deno.create(file)).truncate(FULL_BYTES); // sparse: the database stays far below this limit
  const shell = `trap "" XFSZ; ulimit -S -f ${FULL_BYTES / 512}; exec "$@" >>${file}`;
  const process = await startPlatform(fixture.folder, fixture.env, {}, inShell(shell));
  try {
    const send = asTheProxy(fixture.env["PORT"] ?? "");
    await listening(send);
    const failing = await logHealth({ browser: send });
    assertEquals(failing, { ok: false, detail: "the last write failed: File too large (os error 27)" });
    assertEquals((await Deno.stat(file)).size, FULL_BYTES);
    await raiseFileLimit(process.pid);
    await within("it writes again", until(async () => (await logHealth({ browser: send })).ok));
  } finally {
    process.kill("SIGTERM");
    assertEquals(await within("it stops", process.exited), 0);
  }
  const lines = (await Deno.readTextFile(file)).replace(/^\0+/, "").trimEnd().split("\n");
  const events = lines.map((line) => (JSON.parse(line) as LogLine).event);
  assertEquals([events[0], events.at(-1)], ["platform.listening", "platform.stopped"]);
  assert(!events.includes("log.dropped"));
});

async function raiseFileLimit(pid: number): Promise<void> {
  const { success } = await new Deno.Command("prlimit", { args: [`--pid=${pid}`, "--fsize=unlimited"] })
    .output();
  assert(success);
}

async function listening(send: Send): Promise<void> {
  const answers = (): Promise<boolean> => send(live()).then((answer) => answer.ok, () => false);
  await within("it listens", until(answers));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!await isSo()) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function logHealth({ browser }: { readonly browser: Send }): Promise<{ ok: boolean; detail?: string }> {
  const { parts } = await good<Readiness>(browser(new Request(`${AUTH_URL}/health/ready`)), 200);
  return present(parts["log"]);
}

function live(): Request {
  return new Request(`${AUTH_URL}/health/live`);
}

/** Requests of a probe, a log line each. */
async function flood(env: ServedEnvironment, count: number): Promise<void> {
  const one = async (): Promise<void> => {
    const answer = await env.browser(live());
    await answer.body?.cancel();
    assertEquals(answer.status, 200);
  };
  for (let sent = 0; sent < count; sent += PARALLEL) await Promise.all(Array.from({ length: PARALLEL }, one));
}

async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${PATIENCE_MS} ms: ${what}`)), PATIENCE_MS);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
