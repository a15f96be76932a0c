/**
 * The restore drill, with the commands of docs/operations/backup.md: a backup under load, a lost machine, the copy in its place, an
 * honest retry, a reconciliation. Platform and commands are processes with their tasks' own permissions.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openBooks } from "support/bank_books.ts";
import type { Payment } from "testing/answers.ts";
import { OPERATOR_TOKENS, operatorsFile } from "testing/operators.ts";
import { call, clientToken, type FlowEnvironment, good, pay, requestToken } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { ORDERS_URI } from "support/orders.ts";
import { freePort, type ServedPlatform, startPlatform, taskCommand } from "testing/served_platform.ts";
import { asTheProxy, openFixture, type ServedFixture, settle } from "testing/served_environment.ts";
import { serverIdentity } from "testing/web_authority.ts";

for (const ending of ["kv", "sqlite"]) {
  Deno.test(`.${ending}: a restored backup and an honest retry are one debit, and nothing is lost after reconciling [G9]`, async () => {
    await using drill = await openDrill(ending);
    const { environment, books, fixture } = drill;
    const kept = await good(pay(environment, await authorised(environment)), 201);
    const lost = await authorised(environment);

    await run(drill, "store", ["backup", "--to", `${fixture.folder}/copy.${ending}`]);
    assertEquals((await Deno.stat(`${fixture.folder}/copy.${ending}`)).mode ?? 0, 0o100600);
    const key = { idempotencyKey: "the-shops-key" };
    const paidAfterCopy = await good(pay(environment, lost, key), 201);
    const madeAfterCopy = await good(pay(environment, await authorised(environment)), 201);
    const id = (payment: Payment): string => payment.Data.DomesticPaymentId;

    await drill.restore(`${fixture.folder}/copy.${ending}`);
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
    const store = drill.env["STORE_URL"] ?? "";
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
    assertStringIncludes(await run(drill, "store", ["backup"], 2), "--to FILE");
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
    assertStringIncludes(await run(drill, "reconcile", []), "No orders are held.");
    const holds = (port = ""): Promise<Response> => fetch(`http://127.0.0.1:${port}/operations/order-holds`);
    const [here, there] = await Promise.all([holds(drill.env["OPERATIONS_PORT"]), holds(drill.env["PORT"])]);
    assertEquals(
      [here.status, there.status],
      [401, 404],
      "the participants' port has no operations API [OP1]",
    );
    await Promise.all([here.body?.cancel(), there.body?.cancel()]);
  });
}

const TAKEN = ["--taken-at", "2026-11-01T12:00:00Z"];

interface Drill extends AsyncDisposable {
  readonly fixture: ServedFixture;
  readonly env: Readonly<Record<string, string>>;
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
    STORE_URL: `${fixture.folder}/platform.${ending}`,
    OPERATORS: operators,
    OPERATIONS_PORT: String(freePort()),
    OPS_TOKEN: OPERATOR_TOKENS.maria,
  };
  const bank = await openBank(fixture);
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
      const store = env["STORE_URL"] ?? "";
      for (const suffix of ["-wal", "-shm"]) await Deno.remove(`${store}${suffix}`).catch(() => {});
      await Deno.copyFile(copy, store);
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

/** Bank A's own server, over TLS. */
async function openBank(
  fixture: ServedFixture,
): Promise<{ answer: (body: string) => Promise<Response>; server: Deno.HttpServer<Deno.NetAddr> }> {
  const { hostname } = new URL(ORDERS_URI);
  const { certificatePem: cert, privateKeyPem: key } = await serverIdentity([hostname]);
  const bank = { answer: (_: string): Promise<Response> => Promise.reject(new Error("no books")) };
  const listen = { hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} };
  const server = Deno.serve(listen, async (request) => await bank.answer(await request.text()));
  fixture.names.ports.set(hostname, server.addr.port);
  return Object.assign(bank, { server });
}

/** Runs a task as an operator does beside the platform; gives what it printed. */
async function run(
  { fixture, env }: Drill,
  task: string,
  args: readonly string[],
  code = 0,
): Promise<string> {
  const [program = "", ...words] = await taskCommand(task);
  const command = new Deno.Command(program, {
    args: [...words, ...args],
    cwd: fixture.folder,
    env: { ...env, NO_COLOR: "1" },
    stdin: "null",
  });
  const { code: ended, stdout, stderr } = await command.output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(ended, code, said);
  return said;
}

async function readPayment(environment: FlowEnvironment, id: string): Promise<Payment> {
  const bound = await clientToken(environment, environment.tpp);
  return await good<Payment>(
    call(environment, environment.tpp, bound, `/BANKA/domestic-payments/v1/${id}`),
    200,
  );
}
