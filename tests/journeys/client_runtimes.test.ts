/** The client library's package, installed as its users do, pays on every runtime that it supports, over real mutual TLS [E1] [F14]. */
import { assertEquals, assertMatch } from "@std/assert";
import { CHECKS } from "../../src/platform/operations/traces/check_names.ts";
import { buildCliPackage } from "../../scripts/upkeep/packages/cli_package.ts";
import { buildClientPackage } from "../../scripts/upkeep/packages/client_package.ts";
import { pollBankEvents } from "../../src/client/bank/back_channel.ts";
import { openBank } from "../../src/client/bank/bank.ts";
import { createConsent } from "../../src/client/tpp/domestic_payments.ts";
import { grantClientToken } from "../../src/client/tpp/authorization.ts";
import type { Endpoints } from "../../src/client/party/connection.ts";
import { openFlow } from "../../src/client/tpp/payment_journey.ts";
import { loadParticipant } from "../../src/client/party/participant.ts";
import { paymentRequest } from "../../src/client/tpp/payment_request.ts";
import { openTpp } from "../../src/client/tpp/tpp.ts";
import {
  compile,
  importsOf,
  installCommandLine,
  installPackage,
  quickstart,
  typeFaults,
} from "support/installed_package.ts";
import { firstPayment, onboardOutsiders, type Outsiders, purchase, startProcess } from "support/own_bank.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

/** How a program is started on a runtime. */
type Runtime = readonly [name: string, command: (file: string) => readonly string[]];

const root = new URL("../../", import.meta.url).pathname;
/** `.ci/run` installs these from npm; a Bun of the machine serves as well. */
const BUNS = [`${root}.data/bun/node_modules/.bin/bun`, "bun"];
const VERSIONS = `${root}.data/versions/node_modules`;
const NEWEST_NODE = `${root}.data/node/node_modules/.bin/node`;
const DENO_FLAGS = ["--no-prompt", "--no-lock", "--allow-net", "--allow-read", "--allow-env"];

/** Returns Deno and what else is installed. Prints a warning for each that is missing. */
function installedRuntimes(): readonly Runtime[] {
  return [
    ["Deno", (file) => [Deno.execPath(), "run", ...DENO_FLAGS, file]],
    ...there("the machine's Node", ["node"].find(runs)),
    ...there("the newest Node", [NEWEST_NODE].find(runs)),
    ...[20, 22, 24].flatMap((version) =>
      there(`Node ${version}`, [`${VERSIONS}/node${version}/bin/node`].find(runs))
    ),
    ...there("Bun", BUNS.find(runs)),
  ];
}

function there(name: string, program: string | undefined): readonly Runtime[] {
  if (program !== undefined) return [[name, (file) => [program, file]]];
  const words = `\n*** SKIPPED: the client library was not tried on ${name}, which is missing ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return [];
}

function runs(program: string): boolean {
  try {
    return new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const PAID = /^payment [0-9a-f-]{36}: AcceptedSettlementInProcess$/m;

Deno.test("the client library registers and pays on Deno, Node and Bun, from its package [E1] [F14]", async (t) => {
  await using user = await openTemporaryFolder();
  await using ecosystem = await openPooledSandbox();
  const { dir } = ecosystem;
  const outsiders = { ...await onboardOutsiders(dir), bankCode: "BANKA" };
  await installPackage(user.path, await buildClientPackage(`${user.path}/built`));

  await t.step("it imports nothing but jose and what every runtime has", async () => {
    assertEquals(await importsOf(`${user.path}/node_modules/@payment-initiation/client`), [["jose"], [
      "jose",
    ]]);
  });

  await t.step("its types are those of its programs, with TypeScript 5", async () => {
    await Deno.copyFile(new URL("../../examples/pay.ts", import.meta.url), `${user.path}/pay.ts`);
    const { tpp, bank } = await quickstart();
    await Deno.writeTextFile(`${user.path}/ten_lines.ts`, tpp);
    await Deno.writeTextFile(`${user.path}/bank.ts`, bank);
    await Deno.writeTextFile(
      `${user.path}/wrong.ts`,
      tpp.replace("endpoints, redirectUri });", "endpoints });"),
    );
    const faults = await compile(user.path, ["pay.ts", "ten_lines.ts", "bank.ts", "wrong.ts"]);
    assertEquals(faults.filter((words) => !words.startsWith("/wrong.ts: ")), []);
    assertMatch(faults.join("\n"), /'redirectUri' is missing/);
  });

  for (const version of [6, 7]) {
    for (
      const [name, command] of there(
        `TypeScript ${version}`,
        [`${VERSIONS}/typescript${version}/bin/tsc`].find(runs),
      )
    ) {
      await t.step(`its types are those of its programs, with ${name}`, async () => {
        const [tsc = ""] = command("");
        const faults = await typeFaults(user.path, ["pay.ts", "ten_lines.ts", "bank.ts", "wrong.ts"], tsc);
        assertEquals(faults.filter((words) => !words.startsWith("wrong.ts")), []);
        assertMatch(faults.join("\n"), /'redirectUri' is missing/);
      });
    }
  }

  const runtimes = installedRuntimes();
  for (const [name, command] of runtimes) {
    await t.step(`pays on ${name}`, async () => {
      const [program = "", ...args] = [...command("pay.js"), "mine", "BANKA"];
      assertMatch(await paid(dir, outsiders, { cwd: user.path, program, args }), PAID);
    });
  }

  await t.step("the quickstart's program pays", async () => {
    const args = ["ten_lines.js", "BANKA", dir, outsiders.redirectUri];
    assertMatch(await paid(dir, outsiders, { cwd: user.path, program: "node", args }), PAID);
  });

  const elsewhere = runtimes.filter(([name]) => name === "the machine's Node" || name === "Bun");
  for (const [name, command] of elsewhere) { // the sandbox's banks are the same code on Deno
    await t.step(`the quickstart's bank takes a payment on ${name}`, async () => {
      assertMatch(await paidAtOwnBank(dir, outsiders, user.path, command("bank.js")), PAID);
    });
  }

  await t.step("the command line's package examines, signs, inspects and certifies", async () => {
    await tryCommandLine(dir, user.path);
  });

  await t.step("a bank polls what ended without it", async () => {
    const { end } = await purchase(dir, outsiders, { rejectAt: "otp" });
    assertEquals([end, await eventsOf(dir, "bank-a")], ["access_denied", ["consent-rejected"]]);
  });

  await t.step("a function of a KMS signs, and a fetch of one's own presents the certificate", async () => {
    assertEquals(await consentWithOwnKeys(dir, outsiders), "AwaitingAuthorisation");
  });
});

interface Program {
  readonly cwd: string;
  readonly program: string;
  readonly args: string[];
}

async function paid(dir: string, outsiders: Outsiders, { program, ...more }: Program): Promise<string> {
  const piped = { stdout: "piped", stderr: "piped" } as const;
  const options = { ...more, ...piped, env: { SANDBOX_DIR: dir } };
  const start = (): ReturnType<typeof startProcess> =>
    startProcess(program, new Deno.Command(program, options));
  return await firstPayment(dir, outsiders, { start });
}

async function paidAtOwnBank(
  dir: string,
  outsiders: Outsiders,
  cwd: string,
  [program = "", ...command]: readonly string[],
): Promise<string> {
  const name = "my-bank";
  const { redirectUris: [address = ""] } = await loadParticipant(`${dir}/participants/${name}`);
  const { port } = new URL(address);
  const piped = { stdout: "piped", stderr: "piped" } as const;
  const args = [...command, dir, name, port];
  const running = startProcess(program, new Deno.Command(program, { args, cwd, ...piped }));
  try {
    await running.said(/^the bank serves$/m);
    const pay = {
      cwd,
      program: Deno.execPath(),
      args: ["run", "--no-lock", "-A", "pay.js", "mine", "BANKC"],
    };
    const printed = await paid(dir, outsiders, pay);
    await running.said(RegExp(`^order ${/^payment (\S+):/m.exec(printed)?.[1]}: EUR 4.20$`, "m"));
    return printed;
  } finally {
    await running.stop();
  }
}

async function tryCommandLine(dir: string, user: string): Promise<void> {
  const folder = `${user}/cli`;
  await Deno.mkdir(folder);
  const cli = await installCommandLine(folder, await buildCliPackage(`${user}/built`), { SANDBOX_DIR: dir });
  if (cli === undefined) return;
  const { run, follow } = cli;
  const { onboardTpp, onboardBank } = await quickstart();
  const rename = (text: string): string => text.replace("--name mine", "--name new-tpp");
  assertMatch((await follow(rename(onboardTpp))).text, /participants\/new-tpp\.\n$/);
  assertMatch((await follow(onboardBank)).text, /my-bank has a participant already/); // of onboardOutsiders
  await assertKeepsCheckNames(folder);
  const doctor = await run("doctor", "--name", "mine");
  assertMatch(doctor.text, /^ok {5}order push .*\nEvery layer is fine\.\n$/m);
  const { text: jwt } = await run("sign", "assertion", "--name", "mine", "--bank", "BANKA");
  assertMatch(
    (await run("inspect", jwt.trim(), "--name", "mine")).text,
    /^Verified with the key of Company Limited\.$/m,
  );
  assertMatch((await run("certify", "tpp", "--help")).text, /^npx @payment-initiation\/cli certify tpp /);
  const unknown = await run("constructor");
  assertEquals([unknown.code, /^ {2}doctor {7}/m.test(unknown.text)], [2, true]);
}

async function eventsOf(dir: string, name: string): Promise<readonly string[]> {
  const bank = await openBank({ dir, name, endpoints: await endpointsOf(dir) });
  try {
    return (await pollBankEvents(bank)).events.map(({ type }) => type);
  } finally {
    bank.close();
  }
}

async function endpointsOf(dir: string): Promise<Endpoints & { readonly registration_audience: string }> {
  return JSON.parse(await Deno.readTextFile(`${dir}/endpoints.json`)) as Awaited<
    ReturnType<typeof endpointsOf>
  >;
}

async function consentWithOwnKeys(dir: string, { redirectUri }: Outsiders): Promise<string> {
  const endpoints = await endpointsOf(dir);
  const { softwareStatement, signer, transport: { certPem: cert, keyPem: key } } = await loadParticipant(
    `${dir}/participants/mine`,
  );
  using client = Deno.createHttpClient({ cert, key, caCerts: [await Deno.readTextFile(`${dir}/ca.pem`)] });
  const tpp = await openTpp({
    credentials: { softwareStatement, signing: { kid: signer.kid, key: (data) => signer.sign(data) } },
    fetch: (url, init) => fetch(url, { ...init, client }),
    endpoints,
    redirectUri,
  });
  const flow = await openFlow(tpp, "BANKA");
  const merchant = { name: "Company Limited", iban: "FR1420041010050500013M02606", categoryCode: "5812" };
  const purchase = { orderId: crypto.randomUUID(), description: "Lunch", amount: "4.20", merchant };
  return (await createConsent(flow, await grantClientToken(flow), paymentRequest(purchase))).status;
}

/** Traces name each check by its function (docs/endpoints.md). */
async function assertKeepsCheckNames(folder: string): Promise<void> {
  const dist = `${folder}/node_modules/@payment-initiation/cli/dist`;
  const files = [...Deno.readDirSync(dist)].filter(({ isFile }) => isFile);
  const code = (await Promise.all(files.map(({ name }) => Deno.readTextFile(`${dist}/${name}`)))).join("");
  assertEquals(Object.keys(CHECKS).filter((name) => !code.includes(`}, "${name}"`)), []);
}
