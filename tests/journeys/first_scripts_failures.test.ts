/** `examples/first_payment.ts` and `first_bank.ts` end with a sentence that says what to do, never with a stack trace [E1]. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { goThroughAuthorization } from "../../src/sandbox/customer/customer.ts";
import { sandboxClock } from "support/sandbox_clock.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { onboardOutsiders } from "support/own_bank.ts";

const root = new URL("../../", import.meta.url).pathname;

interface Ended {
  readonly code: number;
  readonly stderr: string;
}

/** Runs a script to its end; `onLink` gets the customer's link as soon as it is printed. */
async function run(
  dir: string,
  script: string,
  args: readonly string[],
  onLink: (link: string) => Promise<void> = () => Promise.resolve(),
): Promise<Ended> {
  const flags = ["--quiet", "--no-prompt", "--no-check", "--allow-net", "--allow-read", "--allow-env"];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, `examples/${script}.ts`, ...args],
    cwd: root,
    env: { SANDBOX_DIR: dir, NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  let text = "";
  let visit: Promise<void> | undefined;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const link = /^http\S+authorization\.oauth2\S+(?=\n)/m.exec(text)?.[0];
    if (link !== undefined) visit ??= onLink(link);
  }
  await visit;
  return { code: (await child.status).code, stderr: await errors };
}

function assertSentence({ code, stderr }: Ended, words: RegExp, status = 1): void {
  assertMatch(stderr, words);
  assertEquals(code, status);
  assert(!/^\s+at |Uncaught|\bError\b:/m.test(stderr), stderr);
}

Deno.test("first_payment and first_bank without arguments, without a participant and without a sandbox end with a sentence [E1]", async (t) => {
  const dir = await Deno.makeTempDir();
  const folder = `${dir}/participants/mine`;
  for (const script of ["first_payment", "first_bank"]) {
    await t.step(
      `${script}: no arguments`,
      async () => assertSentence(await run(dir, script, []), /^usage: first_\w+\.ts <participant folder>/, 2),
    );
    await t.step(
      `${script}: a folder of no participant`,
      async () =>
        assertSentence(
          await run(dir, script, [folder]),
          /is not the folder of an onboarded \w+ .*participant onboard\./,
        ),
    );
  }
  await Deno.mkdir(folder, { recursive: true });
  const me = {
    org_id: "X",
    org_name: "X",
    software_client_id: "SC-x",
    redirect_uris: ["http://localhost:9001/"],
  };
  await Deno.writeTextFile(`${folder}/participant.json`, JSON.stringify(me));
  const claims = { consent_managedby_bank: true };
  await Deno.writeTextFile(`${folder}/SC-x.jks`, `e30.${btoa(JSON.stringify(claims)).replaceAll("=", "")}.x`);
  for (const script of ["first_payment", "first_bank"]) {
    await t.step(
      `${script}: no sandbox`,
      async () =>
        assertSentence(await run(dir, script, [folder]), /^No sandbox runs with the folder .*task start/),
    );
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("first_payment ends with a sentence if the bank is unknown, the customer rejects, the code is late or the sandbox is gone [E1]", async (t) => {
  await using ecosystem = await openPooledSandbox();
  const { dir } = ecosystem;
  const outsiders = await onboardOutsiders(dir);
  const [folder, redirectUri] = [`${dir}/participants/mine`, outsiders.redirectUri];
  const come = (link: string, rejectAt?: "consent"): Promise<URL> =>
    goThroughAuthorization(
      { startUrl: link, redirectUri, ...(rejectAt === undefined ? {} : { rejectAt }) },
      () => {},
    );
  const open = async (url: URL): Promise<void> => void await (await fetch(url)).body?.cancel();
  await t.step(
    "an unknown bank",
    async () =>
      assertSentence(await run(dir, "first_payment", [folder, "BANKX"]), /^No bank has the code BANKX\./),
  );
  await t.step("the customer rejects", async () =>
    assertSentence(
      await run(dir, "first_payment", [folder, "BANKA"], async (link) => open(await come(link, "consent"))),
      /^The customer came back without consent: access_denied, .*No payment was made\./,
      3,
    ));
  await t.step("the code is late by the sandbox's clock", async () => {
    const late = async (link: string): Promise<void> => {
      const back = await come(link);
      await sandboxClock(ecosystem.endpoints).advance(61);
      await open(back);
    };
    assertSentence(
      await run(dir, "first_payment", [folder, "BANKA"], late),
      /^The platform rejected the request: invalid_grant, /,
    );
  });
  await t.step("the sandbox is gone", async () => {
    const endpoints = await Deno.readTextFile(`${dir}/endpoints.json`);
    await ecosystem.stop();
    await Deno.writeTextFile(`${dir}/endpoints.json`, endpoints); // as after a crash
    assertSentence(await run(dir, "first_payment", [folder]), /^No answer: .*\nStart the sandbox/);
  });
});
