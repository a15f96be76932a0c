/** The README's first payment as a stranger makes it: a running sandbox, a TPP of one's own, one file of code [E1, DC12]. */
import { assertEquals, assertMatch } from "@std/assert";
import { goThroughAuthorization } from "../../scripts/demo_customer.ts";
import { startEcosystem } from "../../src/sandbox/ecosystem.ts";
import { freeFirstPort } from "../support/sandbox_process.ts";

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

Deno.test("a stranger onboards a TPP of their own, registers it by DCR and is paid through it [E1]", async () => {
  const dir = `${await Deno.makeTempDir()}/sandbox`;
  const ecosystem = await startEcosystem({ port: freeFirstPort(), dir, log: () => {} });
  const callbackPort = freeFirstPort();
  try {
    const example = JSON.parse(await run(dir, ["scripts/participant.ts", "onboard", "--example", "PISP"]));
    example.software.redirect_uris = [`http://localhost:${callbackPort}/callback`];
    await Deno.writeTextFile(`${dir}/details.json`, JSON.stringify(example));
    await run(dir, [
      "scripts/participant.ts",
      "onboard",
      "--name",
      "mine",
      "--details",
      `${dir}/details.json`,
    ]);
    const output = await payAsCustomer(dir, `http://localhost:${callbackPort}/callback`);
    assertMatch(output, /register: 201 SC-/);
    assertMatch(output, /payment [0-9a-f-]{36}: AcceptedSettlementInProcess/);
  } finally {
    await ecosystem.stop();
    await Deno.remove(dir, { recursive: true });
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
      "scripts/first_payment.ts",
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
