/** `deno task seed`: a platform with the payments of two months, to look at. */
import { numberReader } from "../../command_line/option_values.ts";
import { optionsOf, runProgram } from "../../command_line/run.ts";
import { type EmptyEnvironment, openEmptyEnvironment } from "../../testing/environment.ts";
import { OPERATOR_TOKENS } from "../../testing/operators.ts";
import { ADMIN_TOKEN } from "../../testing/through_proxy.ts";
import { pageCosts, tooDear } from "./page_costs.ts";
import type { Parties } from "./parties.ts";
import { takePictures } from "./pictures.ts";
import { seed, type SeedOptions } from "./seed.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Store, Write } from "../../../src/base/store/store.ts";
import { isKept } from "../../../src/platform/process/measured_parts.ts";
import { testPeople } from "../../testing/participants_people.ts";

const USAGE =
  `Makes payments of 12 banks and 40 TPPs over 60 days by the platform's own endpoints, in a store below
.data/seed, and serves the pages on the loopback interface until Ctrl-C. A store that is there is served as it is.

Usage: deno task seed [options]

  --payments N   how many payments (default 5000, of which a thousand take about two minutes)
  --days D       over how many days (default 60)
  --port P       of the operators' console; the next two are of payers' pages and documentation, and of the
                 directory (default 9500)
  --anew         deletes the store first
  --costs        instead, with a store in memory: prints the bytes and the processor time of each kind of page, and
                 fails if one has more than 300 kB without fonts or takes more than 100 ms
  --pictures     instead, with a store in memory: writes screenshots of each kind of page to .data/screenshots/seed, on
                 a phone, on a desk, dark, in Arabic and with large text; needs Debian's chromium. Goes with --costs
  --banks N, --tpps N  how many (default 12 and 40)`;

const LIMITS = { payments: 1_000_000, days: 400, port: 65_533, banks: 12, tpps: 40 };
const FOLDER = ".data/seed";
const PICTURES = ".data/screenshots/seed";
const PASS_MS = 1000;
const DAY_MS = 86_400_000;

/** Real time for which a seed keeps what has expired on its own clock. */
const GRACE_MS = 600_000;

/** Names and support of an operator, as payers see them. */
const ENVIRONMENT = {
  PLATFORM_OPERATOR_NAME: "Example Payments",
  PLATFORM_SUPPORT_CONTACT: "support@payments.example",
};

/**
 * Opens the ecosystem.
 *
 * @param folder of the files; undefined for stores in memory
 */
async function openSeeded(folder: string | undefined, start: number): Promise<EmptyEnvironment> {
  const at = (name: string): string => folder === undefined ? ":memory:" : `${folder}/${name}.kv`;
  const [store, directory, vault] = [
    lasting(await openDenoKv(at("platform"), { keeps: isKept })),
    await openDenoKv(at("directory")),
    await openDenoKv(at("data_keys")),
  ];
  return await openEmptyEnvironment({
    environment: ENVIRONMENT,
    operators: await testPeople(),
    store,
    otherStores: { directory, vault },
    start,
    identity: { name: "seeded" },
  });
}

/** Deno KV deletes by the computer's clock what has expired, so a seed of an earlier day keeps its entries for a while. */
function lasting(store: Store): Store {
  const kept = (write: Write): Write =>
    write.kind === "set" && write.expiresAt !== undefined
      ? { ...write, expiresAt: Math.max(write.expiresAt, Date.now() + GRACE_MS) as typeof write.expiresAt }
      : write;
  return { ...store, commit: (commit) => store.commit({ ...commit, writes: commit.writes.map(kept) }) };
}

await runProgram(USAGE, async (args, print) => {
  const given = optionsOf(args, ["payments", "days", "port", "banks", "tpps"], [
    "anew",
    "costs",
    "pictures",
  ]);
  const number = numberReader(given, LIMITS);
  const options = {
    payments: number("payments", 5000),
    days: number("days", 60),
    banks: number("banks", 12),
    tpps: number("tpps", 40),
  };
  const port = number("port", 9500);
  const wanted = { costs: given.costs, pictures: given.pictures };
  if (Object.values(wanted).includes(true)) return await inspect(options, { ...wanted, port }, print);
  if (given.anew === true) await Deno.remove(FOLDER, { recursive: true }).catch(() => {});
  const isThere = await Deno.stat(`${FOLDER}/complete`).then(() => true, () => false);
  await using env = isThere ? await openSeeded(FOLDER, Date.now()) : await filled(options, print);
  run(env);
  serve(env, port);
  print(`operators' console   http://127.0.0.1:${port}/console, token ${OPERATOR_TOKENS.maria}`);
  print(`payers and documents http://127.0.0.1:${port + 1}/docs`);
  print(`directory            http://127.0.0.1:${port + 2}/console, token ${ADMIN_TOKEN}`);
  for (;;) {
    await env.platform.workOnce();
    env.logged.length = env.fetched.length = 0;
    await new Promise((resolve) => setTimeout(resolve, PASS_MS));
  }
});

/** Looks at the pages of a store in memory. @returns whether none has a fault */
async function inspect(
  options: Omit<SeedOptions, "until">,
  { costs, pictures, port }: {
    readonly costs: boolean | undefined;
    readonly pictures: boolean | undefined;
    readonly port: number;
  },
  print: (line: string) => void,
): Promise<boolean> {
  await using env = await openSeeded(undefined, Date.now() - options.days * DAY_MS);
  const parties = await seed(env, { ...options, until: Date.now() }, print);
  const faults: string[] = [];
  run(env);
  await new Promise((resolve) => setTimeout(resolve, PASS_MS));
  await env.platform.workOnce(); // what was done last gets its place in the evidence log
  if (costs === true) faults.push(...await measure(env, parties, print));
  if (pictures === true) {
    serve(env, port);
    await env.platform.prepareDocs();
    const at = (offset: number): string => `http://127.0.0.1:${port + offset}`;
    const origins = { operations: at(0), browser: at(1), directory: at(2) };
    const pages = await takePictures(env, parties, { origins, folder: PICTURES, say: print });
    print(`${pages} pages in ${PICTURES}`);
  }
  for (const fault of faults) print(fault);
  return faults.length === 0;
}

/** Prints what pages cost. @returns the sentence of each page that costs too much */
async function measure(
  env: EmptyEnvironment,
  parties: Parties,
  print: (line: string) => void,
): Promise<readonly string[]> {
  const costs = await pageCosts(env, parties);
  for (const { page, bytes, milliseconds } of costs.toSorted((a, b) => b.milliseconds - a.milliseconds)) {
    print(
      `${String(milliseconds).padStart(4)} ms ${String(Math.ceil(bytes / 1000)).padStart(4)} kB  ${page}`,
    );
  }
  const faults = tooDear(costs);
  print(`${costs.length} kinds of pages, ${faults.length} of them too dear`);
  return faults;
}

/** Fills the files. An interrupted run leaves no `complete`, so the next one begins again. */
async function filled(
  options: Omit<SeedOptions, "until">,
  print: (line: string) => void,
): Promise<EmptyEnvironment> {
  await Deno.remove(FOLDER, { recursive: true }).catch(() => {});
  await Deno.mkdir(FOLDER, { recursive: true });
  const env = await openSeeded(FOLDER, Date.now() - options.days * DAY_MS);
  await seed(env, { ...options, until: Date.now() }, print);
  await Deno.writeTextFile(`${FOLDER}/complete`, JSON.stringify(options));
  return env;
}

/** Lets the clock go on from where it stands. */
function run(env: EmptyEnvironment): void {
  const behind = Date.now() - env.now;
  Object.defineProperty(env, "now", { get: () => Date.now() - behind });
}

function serve({ platform, directory }: EmptyEnvironment, first: number): void {
  for (const [at, host] of [platform.operations, platform.browser, directory].entries()) {
    const address = { port: first + at, hostname: "127.0.0.1", onListen: () => {} };
    Deno.serve(address, (request) => host.fetch(request));
  }
}
