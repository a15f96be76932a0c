/**
 * The rights of PostgreSQL's roles: the platform serves journeys without owning the schema, and an analyst sees what is
 * reported of them and nothing else.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import postgres from "postgres";
import { authorised, toBank } from "../../scripts/testing/authorization_flow.ts";
import { START } from "../../scripts/testing/environment.ts";
import { firstOf, type Payment } from "testing/answers.ts";
import { good, pay } from "../../scripts/testing/flows.ts";
import { storeCommand } from "../../scripts/operators/store/main.ts";
import { encodeKey, endBelow } from "../../src/base/store/postgres/key_codec.ts";
import { MIGRATIONS } from "../../src/base/store/postgres/schema.ts";
import { openMovingStore } from "../support/moving_store.ts";
import { accepts, down, openPushEnvironment } from "../support/orders.ts";
import { newPostgresDatabase, postgresServer, test } from "support/postgres.ts";

interface Roles extends AsyncDisposable {
  /** The database's URL, as this user. */
  as(user: string): string;
  /** Runs SQL as this user. */
  run(user: string, text: string): Promise<Readonly<Record<string, unknown>>[]>;
}

async function openRoles(database?: string): Promise<Roles> {
  const url = database ?? await newPostgresDatabase();
  const clients = new Map<string, postgres.Sql>();
  const as = (user: string): string => url.replace("//postgres@", `//${user}@`);
  const run = async (user: string, text: string): Promise<Readonly<Record<string, unknown>>[]> => {
    const made = clients.get(user) ?? postgres(as(user).replace(/\?.*/, ""), { max: 1, onnotice: () => {} });
    clients.set(user, made);
    return [...await made.unsafe(text)];
  };
  await run(
    "postgres",
    `do $$ begin
      create role platform login in role hub_process;
      create role analyst login in role hub_reader;
      create role operator login in role hub_process;
    exception when duplicate_object then null; end $$`,
  );
  return {
    as,
    run,
    async [Symbol.asyncDispose]() {
      for (const client of clients.values()) await client.end({ timeout: 1 });
    },
  };
}

function roleTest(name: string, fn: (roles: Roles) => Promise<void>): void {
  test(name, async () => {
    await using roles = await openRoles();
    await fn(roles);
  });
}

/**
 * A customer has paid, another has authorised and a third is at the bank. Returns the second's payment.
 *
 * @param isSealed false: personal data is stored as versions without data keys did
 */
async function journeys(roles: Roles, { isSealed = true } = {}): Promise<Payment> {
  const store = await openMovingStore(roles.as("platform"));
  await using env = await openPushEnvironment(accepts, { store });
  const first = await authorised(env);
  await good(pay(env, first), 201);
  env.answer = down;
  const second = await good(pay(env, await authorised(env)), 201);
  await toBank(env);
  if (!isSealed) {
    for (const { key, value } of await env.snapshot()) {
      await env.raw.commit({ checks: [], writes: [{ kind: "set", key, value }] });
    }
  }
  return second;
}

roleTest(
  "the platform serves as a role that owns nothing, and the reporting schema shows what happened",
  async (roles) => {
    const second = await journeys(roles);
    const rows = (text: string): Promise<Readonly<Record<string, unknown>>[]> => roles.run("analyst", text);
    const at = new Date(START);
    assertEquals(
      await rows(
        "select bank, status, amount::text, currency, names_debtor_account from reporting.consent order by status",
      ),
      ["AwaitingAuthorisation", "Consumed", "Consumed"].map((status) => ({
        bank: "BANKA",
        status,
        amount: "165.88",
        currency: "EUR",
        names_debtor_account: false,
      })),
    );
    assertEquals(
      await rows(`select payment.status, payment.amount::text, payment.currency, payment.created_at, charges,
      consent.status as of_consent, extract(epoch from authorise_by - consent.created_at)::int as seconds
      from reporting.payment join reporting.consent using (consent_id, client_id, bank) order by payment.status`),
      ["AcceptedSettlementInProcess", "Pending"].map((status) => ({
        status,
        amount: "165.88",
        currency: "EUR",
        created_at: at,
        charges: 0,
        of_consent: "Consumed",
        seconds: 86_400,
      })),
    );
    assertEquals(
      await rows(
        "select bank, created_at, delivery, failures from reporting.payment_order order by delivery",
      ),
      [
        { bank: "BANKA", created_at: at, delivery: "ended", failures: null },
        { bank: "BANKA", created_at: at, delivery: "waiting", failures: 1 },
      ],
    );
    assertEquals(
      await rows(
        "select payment_id, due_at > created_at as later from reporting.payment_order where delivery = 'waiting'",
      ),
      [{ payment_id: second.Data.DomesticPaymentId, later: true }],
    );
    const { subject } = firstOf(await rows("select consent_id as subject from reporting.payment limit 1"));
    assertEquals(
      (await rows(`select event, actor from reporting.event where subject = '${subject}' order by event`))
        .map(({ event, actor }) => [event, String(actor).slice(0, 3)]),
      [
        ["consent.Authorized", "cus"],
        ["consent.AwaitingAuthorisation", "SC-"],
        ["consent.AwaitingAuthorisation", "SC-"],
        ["consent.Consumed", "SC-"],
        ["consent.authorization_requested", "SC-"],
        ["consent.customer_authenticated", "cus"],
        ["consent.customer_sent_to_bank", "cus"],
        ["consent.token_issued", "SC-"],
      ],
    );
  },
);

roleTest("the reporting schema shows no account, name, customer or free text", async (roles) => {
  await journeys(roles, { isSealed: false });
  await roles.run(
    "postgres",
    `insert into hub.entry (key, version, value) values ('\\x617564697400780031003100', gen_random_uuid(),
      '{"at":1,"event":"order_hold.released","actor":"maria","reason":"Called Jo Customer"}')`,
  );
  let shown = "";
  for (const table of ["consent", "payment", "payment_order", "event", "bank_day"]) {
    const found = await roles.run("analyst", `select * from reporting.${table}`);
    assert(found.length > 0, table);
    shown += JSON.stringify(found);
  }
  const kept = JSON.stringify(await roles.run("postgres", "select value::text from hub.entry"));
  for (const secret of ["GB33BUKB", "FR14200410", "ACME", "customer-1", "FRESCO", "maria", "Called"]) {
    assert(kept.includes(secret), `${secret} is stored`);
    assert(!shown.includes(secret), secret);
  }
});

roleTest("an analyst reads the reporting schema and nothing else", async (roles) => {
  await journeys(roles);
  const denied = [
    "select * from hub.entry",
    "select * from hub.migration",
    "insert into hub.entry (key, value, version) values ('\\x00', '1', gen_random_uuid())",
    "select * from hub.entry_payment",
    "delete from reporting.payment",
    "update reporting.consent set status = 'Consumed'",
    "select hub.commit_entries(gen_random_uuid(), false, '{}', '{}', '{}', '{}', '{}', '{}')",
    "create table hub.own (a int)",
  ];
  for (const text of denied) {
    const { message } = await assertRejects(() => roles.run("analyst", text), Error, undefined, text);
    assert(/permission denied|cannot (delete|update)/.test(message), `${text}: ${message}`);
  }
  const executes = "has_function_privilege('analyst', oid, 'execute')";
  const functions = `select ${executes} as may from pg_proc where proname = 'commit_entries'`;
  assertEquals(await roles.run("postgres", functions), [{ may: false }]);
  const ofHub =
    "select relname from pg_class where relnamespace = 'hub'::regnamespace and relkind in ('r', 'p', 'v')";
  assert((await roles.run("postgres", ofHub)).length > 9);
  const open = `${ofHub} and has_table_privilege('analyst', oid, 'select')`;
  assertEquals(await roles.run("postgres", open), []);
});

roleTest("the platform's role cannot change the schema or read what is not its own", async (roles) => {
  const denied = [
    "alter table hub.entry add column more text",
    "drop table hub.entry",
    "truncate hub.entry",
    "create table hub.more (a int)",
    "create table public.more (a int)",
    "drop table reporting.consent",
    "insert into hub.migration (number, name, works_from) values (9, 'nine', 9)",
    "drop function hub.commit_entries",
    "select * from reporting.consent",
    "insert into reporting.payment (payment_id) values ('p')",
    "select reporting.part_of('\\x00', 1)",
    "select rolpassword from pg_authid",
  ];
  for (const text of denied) {
    const { message } = await assertRejects(() => roles.run("platform", text), Error, undefined, text);
    assert(/permission denied|must be owner/.test(message), `${text}: ${message}`);
  }
  await roles.run("platform", "grant select on hub.entry to hub_reader"); // a warning of the server, and no grant
  await assertRejects(() => roles.run("analyst", "select from hub.entry"), Error, "permission denied");
  await assertRejects(
    () => storeCommand(["migrate", "--at", roles.as("platform")], { storeUrl: undefined, now: 0 }),
    Error,
    "permission denied",
  );
});

roleTest("another role of the operator sees that the platform is using the database", async (roles) => {
  const store = await openMovingStore(roles.as("platform"));
  const restored = ["restored", "--at", roles.as("operator"), "--taken-at", "2026-01-31T12:00:00Z"];
  const mark = (): Promise<string> => storeCommand(restored, { storeUrl: undefined, now: 0 });
  try {
    await assertRejects(mark, Error, "is in use by");
  } finally {
    await store.close();
  }
  await mark();
});

test("an owner that may not make roles migrates a database whose roles exist, and again without effect", async () => {
  const url = await postgresServer().newDatabase();
  await newPostgresDatabase(); // makes the roles
  await using roles = await openRoles(url);
  await roles.run("postgres", "create role hub_owner login");
  await roles.run("postgres", `alter database ${new URL(url).pathname.slice(1)} owner to hub_owner`);
  const migrate = (): Promise<string> =>
    storeCommand(["migrate", "--at", roles.as("hub_owner")], { storeUrl: undefined, now: 0 });
  const names = MIGRATIONS.map(({ name }) => name).join(", ");
  assert((await migrate()).endsWith(`applied ${names}.`));
  assert((await migrate()).endsWith("is up to date."));
  const store = await openMovingStore(roles.as("platform"));
  await store.close();
});

Deno.test("the ranges of keys in the migrations are those of the records", () => {
  const sql = MIGRATIONS.map(({ sql }) => sql).join("");
  const partitions = [...sql.matchAll(/from \('(\S+)'\) to \('(\S+)'\); -- (\w+), (\w+)/g)];
  assertEquals(partitions.length, 8);
  for (const [, from, to, first = "", last = ""] of partitions) {
    assertEquals([from, to], [encodeKey([first]), endBelow([last])]);
  }
  for (const row of ["new", "old"]) {
    const outbox = `${row}.key > '${encodeKey(["outbox"])}' and ${row}.key < '${endBelow(["outbox"])}'`;
    assert(sql.includes(outbox), row);
  }
  assert(sql.includes(`>= '${encodeKey(["payment_order"])}'; -- payment_order`));
});
