/**
 * What the driver is told, what its errors mean, and which of them another connection tries again. Few of them can be
 * provoked on a real server, so these tests have none.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { asFailure, PostgresFailure } from "../../../../src/base/store/postgres/failure.ts";
import {
  openConnections,
  SERVING,
  type Sql,
  UNHURRIED,
} from "../../../../src/base/store/postgres/connections.ts";
import type { FailureScope } from "../../../../src/base/store/store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";

/** What the driver has made of the options, without what it adds to them. */
async function optionsFor(url: string, limits = SERVING): Promise<Record<string, unknown>> {
  const connections = await openConnections(readPostgresUrl(url), limits);
  const options = await connections.run((sql) => Promise.resolve(sql.options));
  await connections.close();
  const { host, port, user, pass, database, max, ssl, connection, prepare, fetch_types } = options;
  const { connect_timeout, keep_alive, backoff, target_session_attrs, onnotice, types } = options;
  const { to, from, serialize, parse } = types["bytea"] ?? {};
  return {
    ...{ host, port, user, pass, database, max, ssl, connection, prepare, fetch_types },
    ...{ connect_timeout, keep_alive, target_session_attrs },
    backoff: typeof backoff === "function" ? backoff(1) : backoff,
    notices: onnotice({ message: "a notice" }),
    bytea: { to, from, written: serialize?.("\\x01"), read: parse?.("\\x01") },
  };
}

const OPTIONS = {
  host: ["localhost", "db2.example"],
  port: [6432, 5432],
  user: "hub",
  pass: "p@ss",
  database: "name",
  max: 4,
  ssl: { rejectUnauthorized: true },
  connection: { application_name: "hub", statement_timeout: 2000, enable_seqscan: "off" },
  prepare: true,
  fetch_types: false,
  connect_timeout: 2,
  keep_alive: 10,
  target_session_attrs: "primary",
  backoff: 0.1,
  notices: undefined,
  bytea: { to: 17, from: [17], written: "\\x01", read: "\\x01" },
};

Deno.test("The driver is told hosts, certificates, limits and the form of keys, for requests and for tools", async () => {
  const url = "postgres://hub:p%40ss@localhost:6432,db2.example/name?connections=4";
  assertEquals(await optionsFor(url), OPTIONS);
  const connection = { ...OPTIONS.connection, application_name: "hub_store", statement_timeout: 3_600_000 };
  assertEquals(await optionsFor(url, UNHURRIED), { ...OPTIONS, connection });
  const unprepared = { ...OPTIONS, prepare: false, connection: { application_name: "hub" } };
  assertEquals(await optionsFor(`${url}&prepare=false`), unprepared);
  const authorityFile = await Deno.makeTempFile();
  await Deno.writeTextFile(authorityFile, "an authority");
  const ssl = { rejectUnauthorized: true, ca: "an authority" };
  assertEquals(await optionsFor(`${url}&sslrootcert=${authorityFile}`), { ...OPTIONS, ssl });
  await Deno.remove(authorityFile);
  await assertRejects(() => optionsFor(`${url}&sslrootcert=${authorityFile}`), Error, "no such file");
  const { ssl: plain } = await optionsFor("postgres://hub@localhost/name?sslmode=disable");
  assertEquals([plain, SERVING.silenceMs, UNHURRIED.silenceMs], [false, 3000, 3_660_000]);
});

/** Codes of each kind of failure: whether the statement may have taken effect, another host may take it, and its scope. */
const FAILURES:
  readonly (readonly [codes: string, isUnknown: boolean, ofHost: boolean, scope: FailureScope])[] = [
    ["CONNECTION_CLOSED CONNECTION_DESTROYED CONNECTION_ENDED ECONNRESET EPIPE", true, false, "connection"],
    ["57P01 57P02 08000 08006 08P01", true, false, "connection"],
    ["CONNECT_TIMEOUT EAI_AGAIN ECONNREFUSED EHOSTUNREACH ENETUNREACH ENOTFOUND", false, true, "database"],
    ["ETIMEDOUT CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT ERR_SSL_X ERR_TLS_X", false, true, "database"],
    ["SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE", false, true, "database"],
    ["25006 28000 28P01 3D000 53300 57P03", false, true, "database"],
    ["40001 40P01 40003 55P03 57014 HB001", false, false, "statement"],
    ["53100 53200 57000 57P04 58030 XX001 XX002", false, false, "database"],
  ];
/** Bugs of the program: a wrong statement, a value that does not fit, a conflict, a fault of the server itself. */
const BUGS = "22001 23505 25001 42601 42501 XX000 UNKNOWN_TO_ALL";

Deno.test("Every error of the driver is a failure of a statement, of a connection or of the database, or a bug", () => {
  for (const [codes, isOutcomeUnknown, isHostRefusal, scope] of FAILURES) {
    for (const code of codes.split(" ")) {
      const failure = asFailure(Object.assign(new Error("why"), { code }));
      if (!(failure instanceof PostgresFailure)) throw new Error(`${code} is a bug`);
      const found = [failure.message, failure.isOutcomeUnknown, failure.isHostRefusal, failure.scope];
      assertEquals(found, [`why (${code})`, isOutcomeUnknown, isHostRefusal, scope], code);
    }
  }
  for (const code of BUGS.split(" ")) {
    const bug = asFailure(Object.assign(new Error("why"), { code, parameters: ["secret"] }));
    if (!(bug instanceof Error) || bug instanceof PostgresFailure) throw new Error(`${code} is a failure`);
    assertEquals([bug.message, Object.entries(bug)], [`PostgreSQL: why (${code})`, [["code", code]]]);
  }
  for (const other of [new TypeError("bug"), Object.assign(new Error("bug"), { code: 7 }), "thrown"]) {
    assertEquals(asFailure(other), other);
  }
});

const REFUSED = Object.assign(new Error("the database is starting"), { code: "57P03" });
const DEADLOCK = Object.assign(new Error("deadlock detected"), { code: "40P01" });

Deno.test("A host's refusal is tried again on each connection if there is another host, and no other failure is", async () => {
  const cases: readonly (readonly [url: string, failure: Error, tries: number])[] = [
    ["postgres://hub@one.example,two.example/name?connections=3", REFUSED, 4],
    ["postgres://hub@one.example/name?connections=3", REFUSED, 1],
    ["postgres://hub@one.example,two.example/name?connections=3", DEADLOCK, 1],
    ["postgres://hub@one.example,two.example/name?connections=3", new TypeError("a bug"), 1],
  ];
  for (const [url, failure, expected] of cases) {
    const connections = await openConnections(readPostgresUrl(url));
    let tries = 0;
    const statement = (): Promise<void> => Promise.reject(++tries && failure);
    await assertRejects(() => connections.run(statement), Error, failure.message);
    assertEquals(tries, expected, `${url} ${failure.message}`);
    tries = 0;
    const second = (): Promise<string> => ++tries === 1 ? Promise.reject(failure) : Promise.resolve("done");
    const answer = await connections.run(second).catch(() => "failed");
    assertEquals(answer, expected === 4 ? "done" : "failed");
    await connections.close();
  }
});

Deno.test("After a host that took 2 s to refuse, new connections begin with the next one, and no try begins when 2 s are left", async () => {
  const connections = await openConnections(readPostgresUrl("postgres://hub@a.example,b.example/name"));
  const { now } = performance;
  let at = 0;
  performance.now = () => at;
  const tried: [at: number, first: string | undefined][] = [];
  const refuse = (afterMs: number) => ({ options }: Sql): Promise<void> => {
    tried.push([at += afterMs, options.host[0]]);
    return Promise.reject(REFUSED);
  };
  try {
    await assertRejects(() => connections.run(refuse(999)), PostgresFailure, "starting");
    assertEquals(tried.splice(0), [[999, "a.example"], [1998, "a.example"], [2997, "a.example"], [
      3996,
      "a.example",
    ]]);
    at = 0;
    await assertRejects(() => connections.run(refuse(2000)), PostgresFailure, "starting");
    assertEquals(tried.splice(0), [[2000, "a.example"], [4000, "b.example"]]);
    await assertRejects(() => connections.run(refuse(3001)), PostgresFailure, "starting");
    assertEquals(tried, [[7001, "a.example"]]);
  } finally {
    performance.now = now;
    await connections.close();
  }
});

Deno.test("A server that falls silent is left once, though several wait for it, and what it did is not known", async () => {
  const url = "postgres://hub@localhost/name?connections=3";
  const connections = await openConnections(readPostgresUrl(url), { ...SERVING, silenceMs: 30 });
  const used: Sql[] = [];
  const ended: unknown[] = [];
  const use = (sql: Sql): Promise<void> => {
    const { end } = sql;
    const noted = (options: { timeout: number }): unknown =>
      ended.push([used.indexOf(sql), options]) && end(options);
    if (!used.includes(sql)) Object.assign(sql, { end: noted });
    used.push(sql);
    return Promise.resolve();
  };
  const silence = async (sql: Sql): Promise<never> => {
    await use(sql);
    return await new Promise(() => {});
  };
  const waiting = [silence, silence].map((statement) =>
    assertRejects(() => connections.run(statement), PostgresFailure, "no answer within 0.03 s")
  );
  for (const failure of await Promise.all(waiting)) {
    const { isOutcomeUnknown, isHostRefusal, scope } = failure;
    assertEquals([isOutcomeUnknown, isHostRefusal, scope], [true, false, "database"]);
  }
  await connections.run(use);
  assertEquals([used.map((sql) => used.indexOf(sql)), ended.splice(0)], [[0, 0, 2], [[0, { timeout: 0 }]]]);
  await connections.close();
  assertEquals(ended, [[2, { timeout: 1 }]], "statements under way get a second at a stop");
});

Deno.test("As many statements run at once as there are connections", async () => {
  const connections = await openConnections(readPostgresUrl("postgres://hub@localhost/name?connections=2"));
  const end = Promise.withResolvers<void>();
  let [running, most] = [0, 0];
  const statement = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await end.promise;
    running--;
  };
  const all = [1, 2, 3].map(() => connections.run(statement));
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals([running, most], [2, 2]);
  end.resolve();
  await Promise.all(all);
  assertEquals(most, 2);
  await connections.close();
});
