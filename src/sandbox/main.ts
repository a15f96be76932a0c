/**
 * Entry point of `deno task start`: runs the whole ecosystem on this computer until Ctrl-C or SIGTERM. Reads
 * SANDBOX_PORT, SANDBOX_DIR, SANDBOX_STORE_URL, SANDBOX_DATA_KEYS_STORE and SANDBOX_PLATFORM, prints the addresses to open, and explains in one sentence why it cannot start.
 */
import { PORT_COUNT, readFirstPort } from "./ecosystem/addresses.ts";
import { SANDBOX_CODE, SANDBOX_PASSWORD } from "./bank/customers.ts";
import { CannotStart } from "./ecosystem/cannot_start.ts";
import { type Ecosystem, type Endpoints, startEcosystem } from "./ecosystem/ecosystem.ts";
import { watchLauncher } from "./ecosystem/launcher_watch.ts";

const DEFAULT_PORT = "8440";
const DEFAULT_DIRECTORY = ".data/sandbox";
/** A stop that takes longer is aborted. */
const STOP_WITHIN_MS = 8000;

/** Waits this long for a sandbox that is just stopping. */
const PATIENCE_MS = 2000;

const encoder = new TextEncoder();

function print(text: string): void {
  try {
    Deno.stdout.writeSync(encoder.encode(`${text}\n`));
  } catch {
    // the terminal or pipe was closed; the sandbox does not need it
  }
}

function complain(text: string): void {
  Deno.stderr.writeSync(encoder.encode(`${text}\n`));
}

async function main(): Promise<void> {
  const dir = Deno.env.get("SANDBOX_DIR") || DEFAULT_DIRECTORY;
  const startedAt = performance.now();
  const port = readFirstPort(Deno.env.get("SANDBOX_PORT") || DEFAULT_PORT);
  const started = startEcosystem({
    port,
    dir,
    storeUrl: Deno.env.get("SANDBOX_STORE_URL") || undefined,
    dataKeysStore: Deno.env.get("SANDBOX_DATA_KEYS_STORE") || undefined,
    keepCasesDays: Deno.env.get("PLATFORM_KEEP_CASES_DAYS") || undefined,
    isPlatformElsewhere: readPlatform(Deno.env.get("SANDBOX_PLATFORM")),
    patienceMs: PATIENCE_MS,
    log: print,
  });
  stopWhenAsked(started);
  const ecosystem = await started;
  print(summary(ecosystem.endpoints, dir, (performance.now() - startedAt) / 1000));
  await ecosystem.prepareDocs();
}

/** @throws {CannotStart} */
function readPlatform(text = ""): boolean {
  if (text === "" || text === "elsewhere") return text !== "";
  throw new CannotStart(`SANDBOX_PLATFORM must be "elsewhere" or absent, not "${text}".`);
}

function stopWhenAsked(started: Promise<Ecosystem>): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    // One Ctrl-C can reach this process twice, because `deno task` forwards the terminal's signal.
    if (stopping) return;
    stopping = true;
    Deno.unrefTimer(setTimeout(() => Deno.exit(1), STOP_WITHIN_MS));
    await (await started).stop();
    print("The sandbox has stopped; everything is kept.");
    Deno.exit(0);
  };
  const ask = (): void =>
    void stop().catch((error) => {
      complain(`The sandbox did not stop cleanly: ${describe(error)}`);
      Deno.exit(1);
    });
  // Windows has no SIGTERM and no SIGHUP.
  const signals: readonly Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) Deno.addSignalListener(signal, ask);
  watchLauncher(ask).catch(() => {}); // optional: the sandbox runs without it
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function summary(endpoints: Endpoints, dir: string, seconds: number): string {
  const demo = `npx -y deno@${Deno.version.deno} task demo`;
  const { base_url, auth_url, directory_url, banks_url, shop_url, operations_url } = endpoints;
  return `
The sandbox is ready (${seconds.toFixed(1)} s).

  Demo shop    ${shop_url}    buy something and pay from a bank account
               at the bank: alice / ${SANDBOX_PASSWORD}, one-time code ${SANDBOX_CODE}
  Banks        ${banks_url}    what the two banks know
  Platform     ${auth_url}/docs    the API described
  API          ${base_url}    needs a client certificate
  Directory    ${directory_url}/participants
  Consoles     ${operations_url}/console    for operators of the platform
               ${directory_url}/console    for administrators of the directory
               sign in with directory_admin_token of ${dir}/endpoints.json

  Files        ${dir}/    endpoints.json, ca.pem, participants/<name>/, sandbox.log
  One payment step by step, from another terminal:
               ${dir === DEFAULT_DIRECTORY ? demo : `SANDBOX_DIR=${dir} ${demo}`}

Press Ctrl-C to stop.`;
}

const USAGE = `deno task start

  Starts the platform, the participants directory, two banks and a shop on this computer, until Ctrl-C. What they know is
  kept.

  SANDBOX_DIR    folder of its files; default .data/sandbox
  SANDBOX_PORT   the first of ${PORT_COUNT} ports in a row; default ${DEFAULT_PORT}`;

if (import.meta.main) {
  try {
    const [unknown] = Deno.args;
    if (unknown === "--help" || unknown === "-h") {
      print(USAGE);
      Deno.exit(0);
    }
    if (unknown !== undefined) {
      complain(`Unknown argument ${unknown}; --help says what there is.`);
      Deno.exit(2);
    }
    await main();
  } catch (error) {
    complain(
      error instanceof CannotStart ? error.message : `The sandbox could not start: ${describe(error)}`,
    );
    Deno.exit(1);
  }
}
