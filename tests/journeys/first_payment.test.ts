/** The README's first payment as an external party makes it: a running sandbox, a TPP of one's own, one file of code [E1, DC12]. */
import { assertEquals, assertMatch } from "@std/assert";
import { goThroughAuthorization } from "../../src/sandbox/customer/customer.ts";
import { sandboxClock } from "support/sandbox_clock.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { firstPayment, onboardOutsiders, startOwnBank } from "support/own_bank.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";

const root = new URL("../../", import.meta.url).pathname;

async function run(dir: string, args: readonly string[]): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-check",
      "--allow-net",
      "--allow-read",
      "--allow-write",
      "--allow-env",
      ...args,
    ],
    cwd: root,
    env: { SANDBOX_DIR: dir },
  });
  const { code, stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout);
  assertEquals(code, 0, text + new TextDecoder().decode(stderr));
  return text;
}

Deno.test("an outsider onboards a TPP of their own, registers it by DCR and is paid through it [E1]", async () => {
  await using ecosystem = await openPooledSandbox();
  const { dir } = ecosystem;
  const callbackPort = freeSandboxPorts();
  const example = JSON.parse(
    await run(dir, ["scripts/integrators/participant/main.ts", "onboard", "--example", "PISP"]),
  ) as { software: { redirect_uris: string[] } };
  example.software.redirect_uris = [`http://localhost:${callbackPort}/callback`];
  await Deno.writeTextFile(`${dir}/details.json`, JSON.stringify(example));
  await run(dir, [
    "scripts/integrators/participant/main.ts",
    "onboard",
    "--name",
    "mine",
    "--details",
    `${dir}/details.json`,
  ]);
  const output = await payAsCustomer(dir, `http://localhost:${callbackPort}/callback`);
  assertMatch(output, /register: 201 SC-/);
  assertMatch(output, /payment [0-9a-f-]{36}: AcceptedSettlementInProcess/);
  const script = ["examples/first_payment.ts", `${dir}/participants/mine`, "BANKB", "approve"];
  assertMatch(await run(dir, script), /payment [0-9a-f-]{36}: AcceptedSettlementInProcess/); // without a browser
});

Deno.test("after the sandbox's clock was moved, TPPs and banks of one's own onboard, register and pay all the same [E1] [F1]", async (t) => {
  await using sandbox = await openPooledSandbox();
  const { dir, endpoints } = sandbox;
  const { advance } = sandboxClock(endpoints);
  await advance(90_000);
  const outsiders = await onboardOutsiders(dir);
  const bank = await startOwnBank(dir);
  try {
    await t.step("the bank registers", () => assertMatch(bank.registered, /^201 SC-/));
    await t.step("the TPP registers and is paid through it, time passing at every stop", async () => {
      const printed = await firstPayment(dir, outsiders, { first: () => advance(400) });
      assertMatch(printed, /^register: 201 SC-/m);
      const [, paymentId] = /^payment ([0-9a-f-]{36}): AcceptedSettlementInProcess$/m.exec(printed) ?? [];
      await bank.said(RegExp(`^order ${paymentId}: EUR 4.20 AcceptedSettlementInProcess\\n`, "m"));
    });
    await t.step("days later again, through this bank and the sandbox's", async () => {
      await advance(3 * 86_400);
      for (const bankCode of ["BANKA", "BANKB", outsiders.bankCode]) {
        const printed = await firstPayment(dir, { ...outsiders, bankCode });
        assertMatch(printed, /^payment [0-9a-f-]{36}: AcceptedSettlementInProcess$/m);
      }
    });
  } finally {
    await bank.stop();
  }
});

/** Runs the script, opens its link as the customer, and gives what it printed. */
async function payAsCustomer(dir: string, redirectUri: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-check",
      "--allow-net",
      "--allow-read",
      "--allow-env",
      "examples/first_payment.ts",
      `${dir}/participants/mine`,
    ],
    cwd: root,
    env: { SANDBOX_DIR: dir },
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let text = "";
  let visited: Promise<unknown> | undefined;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const link = /^http\S+authorization\.oauth2\S+(?=\n)/m.exec(text)?.[0];
    if (link === undefined || visited !== undefined) continue;
    visited = goThroughAuthorization({ startUrl: link, redirectUri }, () => {})
      .then(async (back) => void await (await fetch(back)).body?.cancel());
  }
  await visited;
  assertEquals((await child.status).code, 0, text);
  return text;
}
