/** A bench of the certification of TPPs with keys of the test pool, and TPPs with planted faults on it. */
import { assertEquals } from "@std/assert";
import {
  openTppBench,
  type Place,
  type RunningBench,
  type TppBench,
} from "../../scripts/integrators/certify/tpp/bench.ts";
import { commandSubject } from "../../scripts/integrators/certify/tpp/command_subject.ts";
import type { Subject } from "../../scripts/integrators/certify/tpp/subject.ts";
import { REQUEST_CASES } from "../../scripts/integrators/certify/tpp/request_cases.ts";
import { TPP_SUITE } from "../../scripts/integrators/certify/tpp/suite.ts";
import { webSubject } from "../../scripts/integrators/certify/tpp/web_subject.ts";
import { runCases } from "../../scripts/integrators/certify/case.ts";
import { freePort, freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import { openTpp } from "../../src/client/tpp/tpp.ts";
import { pooledKeys } from "./pooled_ecosystem.ts";
import type { Change, TppFault } from "./tpp_faults.ts";

const root = new URL("../../", import.meta.url).pathname;
const EXAMPLE = "examples/first_payment.ts";
/** The example waits a second and more before it repeats what got no answer; its copies wait less. */
const IMPATIENT: Change = { from: '"retry-after") ?? attempt)', to: '"retry-after") ?? 0.1)' };
/** The source files of a shop, below `src`. */
const SHOP_PARTS = ["base", "client", "pages", "sandbox/shop", "sandbox/pages"];

/** A bench whose TPP can be exchanged. */
export interface FaultBench extends AsyncDisposable {
  /** The bench with `first_payment.ts` as it is, or with a fault. */
  program(fault?: TppFault): Promise<TppBench>;
  /** The bench with the shop as it is, or with a fault; dispose of it before the next. */
  shop(fault?: TppFault): Promise<AsyncDisposable & { readonly bench: TppBench }>;
}

/** Starts the ecosystem. Copies of programs are written to its folder. */
export async function openFaultBench(): Promise<FaultBench> {
  // Below the project, so that its configuration holds for the copies.
  await Deno.mkdir(`${root}.data`, { recursive: true });
  const dir = await Deno.makeTempDir({ dir: `${root}.data`, prefix: "certify-" });
  const redirectUri = `http://localhost:${freePort()}/callback`;
  const { promise, resolve } = Promise.withResolvers<Place>();
  const bench = await openTppBench({
    dir: `${dir}/sandbox`,
    port: freeSandboxPorts(),
    redirectUri,
    makeKeys: pooledKeys(),
    keyLeadSeconds: 0,
    subject: (place) => {
      resolve(place);
      return { pay: () => Promise.reject(new Error("choose a TPP first")) };
    },
  });
  const setting: Setting = { bench, dir, redirectUri, place: await promise };
  return {
    program: async (fault) => bench.with(await program(setting, fault)),
    shop: (fault) => shop(setting, fault),
    async [Symbol.asyncDispose]() {
      await bench.stop();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

interface Setting {
  readonly bench: RunningBench;
  readonly dir: string;
  readonly redirectUri: string;
  readonly place: Place;
}

async function program(
  { dir, place }: Setting,
  { changes, flags = [] }: Partial<TppFault> = {},
): Promise<Subject> {
  const script = `${dir}/${crypto.randomUUID()}.ts`;
  await Deno.writeTextFile(
    script,
    changed(await Deno.readTextFile(root + EXAMPLE), [IMPATIENT, ...changes ?? []]),
  );
  const permissions = ["--quiet", "--no-prompt", "--no-check", "--allow-net", "--allow-read", "--allow-env"];
  const words = [Deno.execPath(), "run", "--config", `${root}deno.json`, ...permissions, ...flags, script];
  const command = `${words.map((word) => `'${word}'`).join(" ")} "$TPP_FOLDER" "$BANK_CODE"`;
  return commandSubject({
    command,
    sandboxDir: place.sandboxDir,
    folder: place.folder,
    authUrl: place.endpoints.auth_url,
  });
}

async function shop(
  { bench, dir, redirectUri, place }: Setting,
  fault?: TppFault,
): Promise<AsyncDisposable & { readonly bench: TppBench }> {
  const copy = `${dir}/${crypto.randomUUID()}`;
  for (const part of SHOP_PARTS) await copyFolder(`${root}src/${part}`, `${copy}/${part}`);
  for (const { file, ...change } of fault?.changes ?? []) {
    const path = `${copy}/${file}`;
    await Deno.writeTextFile(path, changed(await Deno.readTextFile(path), [change]));
  }
  const [{ composeShop }, client] = await Promise.all([
    import(`file://${copy}/sandbox/shop/app.ts`),
    import(`file://${copy}/client/tpp/tpp.ts`) as Promise<{ readonly openTpp: typeof openTpp }>,
  ]);
  const { auth_url: authUrl, banks_url: banksUrl } = place.endpoints;
  const { origin: shopUrl, port } = new URL(redirectUri);
  const { sandboxDir, endpoints } = place;
  const tpp = await client.openTpp({ dir: sandboxDir, name: "tpp", endpoints, redirectUri });
  const handler: { fetch(request: Request): Promise<Response> } = composeShop({
    tpp,
    shopUrl,
    authUrl,
    banksUrl,
  });
  const options = { hostname: "127.0.0.1", port: Number(port), onListen: () => {} };
  const server = Deno.serve(options, (request) => handler.fetch(request));
  return {
    bench: bench.with(webSubject({ startUrl: `${shopUrl}/`, authUrl })),
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      tpp.close();
    },
  };
}

/** @throws {Error} if a change is not of exactly one place */
function changed(text: string, changes: readonly Change[]): string {
  return changes.reduce((before, { from, to }) => {
    assertEquals(before.split(from).length, 2, `"${from}" must stand there once`);
    return before.replace(from, () => to);
  }, text);
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** The requests of two good payments, which all of these cases read. */
const READ = REQUEST_CASES.map(({ id }) => id).filter((id) => id !== "TPP-R14");

/**
 * The case of a fault fails, and no other one: the cases that read the same payments, or one that makes another payment.
 */
export async function assertFound(bench: TppBench, { finds }: TppFault): Promise<void> {
  const ids = READ.includes(finds) ? READ : [finds, finds === "TPP-B06" ? "TPP-K02" : "TPP-B06"];
  const cases = TPP_SUITE.cases.filter(({ id }) => ids.includes(id));
  assertEquals(cases.length, ids.length);
  const failed = (await runCases(cases, bench)).filter(({ passed }) => !passed);
  assertEquals(failed.map(({ id }) => id), [finds], JSON.stringify(failed));
}
