/** `deno serve src/platform/process/main.ts`: the entry for runtimes that listen themselves, as a process without write access. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Payment } from "testing/answers.ts";
import { authorised, decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { call, clientToken, type FlowEnvironment, good, pay } from "testing/flows.ts";
import { asTheProxy, openFixture, type ServedFixture, settle } from "testing/served_environment.ts";
import { type ServedPlatform, startCommand, taskCommand } from "testing/served_platform.ts";
import { newPostgresDatabase, test } from "support/postgres.ts";
import { until } from "support/raw_client.ts";

/** Where a bank takes orders that is away. */
const UNREACHABLE = "https://bank.example/payment-orders";
/** Deno's own crons come at this interval, milliseconds, in place of their schedule. */
const OFTEN = { DENO_CRON_TEST_SCHEDULE_OFFSET: "200" };

for (const [scheduler, flags] of [["timers", []], ["cron", ["--unstable-cron"]]] as const) {
  test(`deno serve takes payments of every kind of consent without write access, works in the background with ${scheduler}, ends on SIGTERM`, async () => {
    await using fixture = await openFixture("Sandbox");
    const [STORE_URL, DATA_KEYS_STORE] = [await newPostgresDatabase(), await newPostgresDatabase()];
    const process = await startHosted(fixture, {
      PLATFORM_STORE_URL: STORE_URL,
      PLATFORM_DATA_KEYS_STORE: DATA_KEYS_STORE,
    }, flags);
    try {
      const api = asTheProxy(fixture.env["PORT"] ?? "");
      const people = await settle(fixture, api, { paymentOrdersUri: UNREACHABLE });
      const env = {
        ...people,
        get now(): number {
          return fixture.now;
        },
        api,
        browser: api,
      };
      assertEquals((await process.logged("platform.started"))["scheduler"], scheduler);
      await payInEveryWay(env);
      await refuseInEveryWay(env);
      await good(pay(env, await authorised(env)), 201);
      await process.logged("order.not_delivered", ({ failures }) => Number(failures) >= 2); // tried again
      let code: number | undefined;
      void process.exited.then((exitCode) => code = exitCode);
      process.kill("SIGTERM");
      await until(() => code !== undefined);
      assertEquals([code, (await process.ended).stderr.split("\n").filter((line) => /error/i.test(line))], [
        0,
        [],
      ]);
      assertEquals(process.lines.at(-1)?.["event"], "platform.stopped");
    } finally {
      process.kill("SIGKILL");
      await process.ended;
    }
  });
}

/** Pays with the account in the consent, with one chosen at the platform, and with one chosen at the bank. */
async function payInEveryWay(env: FlowEnvironment): Promise<void> {
  const { bankA, bankB } = env;
  for (const options of [{ body: IMPLICIT }, { bank: bankA }, { bank: bankB }]) {
    const flow = await authorised(env, options);
    const { DomesticPaymentId: id } = (await good(pay(env, flow), 201)).Data;
    await good(putStatus(env, flow.bank, id, "AcceptedSettlementInProcess"), 200);
    const payment = `/${flow.bank.orgId}/domestic-payments/v1/${id}`;
    assertEquals(await statusAt(env, flow.bank.orgId, payment), "AcceptedSettlementInProcess");
  }
}

/** The customer refuses at the platform, and the bank reports a refusal. */
async function refuseInEveryWay(env: FlowEnvironment): Promise<void> {
  const [asked, refused] = [await toBank(env), await toBank(env, { bank: env.bankB })];
  await good(putAccounts(env, asked.bank, asked.consentId), 200);
  const screen = await asked.browser.open(await returnPath(env, asked.bank, asked.handover));
  await decide(asked.browser, screen.headers.get("location") ?? "", "refuse");
  await refused.browser.open(
    await returnPath(env, refused.bank, refused.handover, { claims: { status_code: "failure" } }),
  );
  for (const { bank, consentId } of [asked, refused]) {
    const consent = `/${bank.orgId}/domestic-payment-consents/v1/${consentId}`;
    assertEquals(await statusAt(env, bank.orgId, consent), "Rejected");
  }
}

async function statusAt(env: FlowEnvironment, bank: string, path: string): Promise<string> {
  return (await good<Payment>(call(env, env.tpp, await clientToken(env, env.tpp, bank), path), 200)).Data
    .Status;
}

Deno.test("deno serve does not start with a configuration that is not usable, and names every problem", async () => {
  await using fixture = await openFixture("Sandbox");
  const process = await startHosted(fixture, {
    PLATFORM_STORE_URL: ":memory:",
    PLATFORM_PROXY_SECRET: "short",
    PLATFORM_BASE_URL: "",
  });
  const { code, stderr } = await process.ended;
  assertEquals(code, 1);
  assertMatch(stderr, /^The configuration is not usable:$/m);
  for (const name of ["PLATFORM_PROXY_SECRET", "PLATFORM_BASE_URL"]) {
    assert(stderr.includes(`  - ${name}: `), stderr);
  }
});

/** Resolves when it answers, or has ended. */
async function startHosted(
  { folder, env }: ServedFixture,
  variables: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<ServedPlatform> {
  const serve = (await taskCommand("serve")).filter((word) => !/^--(allow-write|env-file|listen)/.test(word));
  const [deno = "", , ...rest] = serve.map((word) =>
    word === "--allow-read" ? `--allow-read=${folder}` : word
  );
  const port = env["PORT"] ?? "";
  const command = [deno, "serve", ...flags, "--host", "127.0.0.1", "--port", port, ...rest];
  const process = startCommand(command, folder, { ...env, ...OFTEN, ...variables }, "platform.started");
  let ended = false;
  void process.ended.then(() => ended = true);
  const answers = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/health/serving`).then(
      async ({ ok, body }) => (await body?.cancel(), ok),
      () => false,
    );
  await until(async () => ended || await answers());
  return process;
}
