/**
 * The restore drill, with the commands of docs/operations/backup.md: a backup under load, a lost machine, the copy in its place, an
 * honest retry, a reconciliation. Platform and commands are processes with their tasks' own permissions.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openBooks } from "support/bank_books.ts";
import { commandsOf, openBankServer, readPayment, runCommands, runTask } from "support/drill.ts";
import type { Payment } from "testing/answers.ts";
import { OPERATOR_TOKENS, operatorsFile } from "testing/operators.ts";
import { type FlowEnvironment, good, pay, requestToken } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { AUTH_URL } from "testing/environment.ts";
import { ORDERS_URI } from "support/orders.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { type ServedPlatform, startPlatform } from "testing/served_platform.ts";
import { asTheProxy, openFixture, type ServedFixture, settle } from "testing/served_environment.ts";
import { forgetSharedTokens } from "testing/shared_token.ts";

for (const ending of ["kv", "sqlite"]) {
  Deno.test(`.${ending}: a restored backup and an honest retry are one debit, and nothing is lost after reconciling [G9]`, async () => {
    await using drill = await openDrill(ending);
    const { environment, books, fixture } = drill;
    const kept = await good(pay(environment, await authorised(environment)), 201);
    const lost = await authorised(environment);

    await onPage(drill, "store backup");
    const copies = await Array.fromAsync(Deno.readDir(`${fixture.folder}/backup`));
    const [copy = ""] = copies.map(({ name }) => `${fixture.folder}/backup/${name}`);
    assertEquals([copies.length, copy.endsWith(`.${ending}`)], [1, true]);
    assertEquals((await Deno.stat(copy)).mode ?? 0, 0o100600);
    const key = { idempotencyKey: "the-shops-key" };
    const paidAfterCopy = await good(pay(environment, lost, key), 201);
    const madeAfterCopy = await good(pay(environment, await authorised(environment)), 201);
    const id = (payment: Payment): string => payment.Data.DomesticPaymentId;

    await drill.restore(copy);
    forgetSharedTokens(environment);
    assertEquals((await pay(environment, lost, key)).status, 401, "the retry: its token is void");
    const early = await requestToken(environment, environment.tpp);
    assertEquals([early.status, early.headers.get("retry-after")], [503, "60"], "not reconciled");
    assertEquals(books.orders.size, 3);

    const said = await run(drill, "reconcile", ["--bank", "BANKA"], 1);
    assertStringIncludes(said, "BANKA: released; 2 recovered, 0 updated, 1 agreed");
    assertStringIncludes(said, "Still held: BANKB");
    await run(drill, "reconcile", ["--bank", "BANKB", "--release", "Bank B pulls its orders itself."]);

    for (const payment of [kept, paidAfterCopy, madeAfterCopy]) {
      const read = await readPayment(environment, id(payment));
      assertEquals([read.Data.ConsentId, read.Data.Status], [
        payment.Data.ConsentId,
        "AcceptedSettlementInProcess",
      ]);
    }
    const fresh = await good(pay(environment, await authorised(environment)), 201);
    assertEquals(fresh.Data.Status, "AcceptedSettlementInProcess");
    assertEquals(
      [...books.orders].map(([id, { executions }]) => [id, executions]).sort(),
      [kept, paidAfterCopy, madeAfterCopy, fresh].map((payment) => [id(payment), 1]).sort(),
    );
    assert(drill.process.lines.some(({ event }) => event === "store.restored"));
  });

  Deno.test(`.${ending}: a copy by other means is marked by hand; the mark is rejected while the platform runs [G9]`, async () => {
    await using drill = await openDrill(ending);
    const store = drill.env["PLATFORM_STORE_URL"] ?? "";
    const inUse = await run(drill, "store", ["restored", "--at", store, ...TAKEN], 1);
    assertStringIncludes(inUse, "in use by another process");
    drill.process.kill("SIGTERM");
    await drill.process.ended;
    await run(drill, "store", ["restored", "--at", store, ...TAKEN]);
    await drill.start();
    const line = await drill.process.logged("store.restored");
    assertEquals([line["copyTakenAt"], line["banksHeld"]], ["2026-11-01T12:00:00+00:00", 2]);
  });

  Deno.test(`.${ending}: store and reconcile say what they need`, async () => {
    await using drill = await openDrill(ending);
    const { folder } = drill.fixture;
    assertStringIncludes(await run(drill, "store", ["backup"], 2), "Missing: --to;");
    assertStringIncludes(
      await run(drill, "store", ["restored", "--at", `${folder}/none.${ending}`, ...TAKEN], 1),
      "is not a file",
    );
    const taken = ["backup", "--to", `${folder}/platform-keys.json`];
    assertStringIncludes(await run(drill, "store", taken, 1), "cannot be made");
    assertStringIncludes(await run(drill, "reconcile", ["--bank"], 2), "--bank");
    assertStringIncludes(
      await run(drill, "reconcile", ["--url", "http://127.0.0.1:1"], 1),
      "does not answer",
    );
    assertStringIncludes(await run(drill, "reconcile", []), "No bank is held after a restore.");
    const holds = (port = ""): Promise<Response> => fetch(`http://127.0.0.1:${port}/operations/order-holds`);
    const [here, there] = await Promise.all([
      holds(drill.env["PLATFORM_OPERATIONS_PORT"]),
      holds(drill.env["PORT"]),
    ]);
    assertEquals(
      [here.status, there.status],
      [401, 404],
      "the participants' port has no operations API [OP1]",
    );
    await Promise.all([here.body?.cancel(), there.body?.cancel()]);
  });
}

for (const [ending, other] of [["kv", "sqlite"], ["sqlite", "kv"]] as const) {
  Deno.test(`.${ending}: a database is checked, moved to .${other}, assigned, and marked, as the page says`, async () => {
    await using drill = await openDrill(ending);
    const { environment, env, fixture } = drill;
    const first = await good(pay(environment, await authorised(environment)), 201);
    await checkFile(drill);
    drill.process.kill("SIGKILL");
    await drill.process.ended;
    await checkFile(drill);

    const said = await onPage(drill, "store copy", { "moved.sqlite": `moved.${other}` });
    assertEquals(said.match(/SHA-256/g)?.length, 2);
    const former = env["PLATFORM_STORE_URL"] ?? "";
    env["PLATFORM_STORE_URL"] = `${fixture.folder}/moved.${other}`;
    await drill.start();
    const read = (): Promise<Payment> => readPayment(environment, first.Data.DomesticPaymentId);
    assertEquals((await read()).Data.ConsentId, first.Data.ConsentId);
    drill.process.kill("SIGTERM");
    await drill.process.ended;

    env["PLATFORM_STORE_URL"] = former;
    await onPage(drill, "store assign", { "https://auth.hub.example.com": AUTH_URL });
    await drill.start();
    assertEquals((await read()).Data.ConsentId, first.Data.ConsentId);
    drill.process.kill("SIGTERM");
    await drill.process.ended;
    await onPage(drill, RESTORED_BY_HAND, { "<time>": "2026-11-01T12:00:00Z" }, RESTORED_BY_HAND);
    await drill.start();
    assertEquals((await drill.process.logged("store.restored"))["banksHeld"], 2);
  });
}

const RESTORED_BY_HAND =
  "runuser -u payment-platform -- env DENO_DIR=/var/lib/payment-platform/deno deno task store restored --at $FILE --taken-at <time>";
const TAKEN = ["--taken-at", "2026-11-01T12:00:00Z"];

interface Drill extends AsyncDisposable {
  readonly fixture: ServedFixture;
  /** Variables of the next process, and of the page's commands. */
  readonly env: Record<string, string>;
  readonly environment: FlowEnvironment;
  readonly books: ReturnType<typeof openBooks>;
  process: ServedPlatform;
  start(): Promise<void>;
  /** The machine dies; the copy takes the place of its database, as docs/operations/backup.md says. */
  restore(copy: string): Promise<void>;
}

async function openDrill(ending: string): Promise<Drill> {
  const fixture = await openFixture();
  const operators = `${fixture.folder}/operators.json`;
  await Deno.writeTextFile(operators, await operatorsFile(), { mode: 0o600 });
  const env: Record<string, string> = {
    ...fixture.env,
    PLATFORM_STORE_URL: `${fixture.folder}/platform.${ending}`,
    PLATFORM_OPERATORS: operators,
    PLATFORM_FOUR_EYES: "none",
    PLATFORM_OPERATIONS_PORT: String(freePort()),
    PLATFORM_OPS_TOKEN: OPERATOR_TOKENS.maria,
  };
  const bank = await openBankServer(fixture);
  const send = asTheProxy(env["PORT"] ?? "");
  const drill = { fixture, env, process: await startPlatform(fixture.folder, env) };
  await drill.process.ready;
  const people = await settle(fixture, send, { paymentOrdersUri: ORDERS_URI });
  const environment: FlowEnvironment = {
    get now(): number {
      return Date.now();
    },
    ...people,
    api: send,
    browser: (request) => send(request),
  };
  const books = openBooks(environment);
  bank.answer = (body) => books.answer(body);
  return Object.assign(drill, {
    environment,
    books,
    async start(): Promise<void> {
      drill.process = await startPlatform(fixture.folder, env);
      await drill.process.ready;
    },
    async restore(this: Drill, copy: string): Promise<void> {
      drill.process.kill("SIGKILL");
      await drill.process.ended;
      await onPage(drill, "rm -f", {
        "/backup/<copy>": copy,
        [RESTORED_BY_HAND]: ":",
        "PLATFORM_OPS_TOKEN=<your token> deno task reconcile": ":", // when it has started
      });
      await this.start();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      drill.process.kill("SIGKILL");
      await drill.process.ended;
      await bank.server.shutdown();
      await fixture[Symbol.asyncDispose]();
    },
  });
}

/** Checks the file as the page says, with SQLite's shell. Says so if the machine has none. */
async function checkFile(drill: Drill): Promise<void> {
  const hasShell = await new Deno.Command("sh", { args: ["-c", "command -v sqlite3"], stdout: "null" })
    .output();
  if (hasShell.success) return assertEquals(await onPage(drill, "quick_check"), "ok\n");
  const words = "\n*** SKIPPED: no database file was checked, install sqlite3 ***\n\n";
  Deno.stdout.writeSync(new TextEncoder().encode(words));
}

/**
 * Runs the page's block of commands that contains these words, or a line of it, in the drill's folders. The test stops
 * and starts the platform itself, and has no other user. Gives what it printed.
 */
async function onPage(
  { fixture: { folder }, env }: Pick<Drill, "fixture" | "env">,
  words: string,
  placeholders: Readonly<Record<string, string>> = {},
  line?: string,
): Promise<string> {
  const commands = await commandsOf("backup.md", words, placeholders, line);
  await Deno.mkdir(`${folder}/backup`, { recursive: true });
  const own = `FILE=${env["PLATFORM_STORE_URL"]}
    systemctl() { :; }
    runuser() { shift 5; "$@"; }
    install() { command install -m 600 "$5" "$6"; }`;
  const inFolder = commands.replaceAll(/(?<=[ "])\/backup\//g, `${folder}/backup/`)
    .replaceAll("/var/lib/payment-platform", folder);
  return await runCommands({ folder, env }, own, inFolder);
}

/** Runs a task as an operator does beside the platform; gives what it printed. */
function run(
  { fixture: { folder }, env }: Drill,
  task: string,
  args: readonly string[],
  code = 0,
): Promise<string> {
  return runTask({ folder, env }, task, args, code);
}
