/** The settings that a URL of PostgreSQL may contain, and those that are refused. */
import { assertEquals, assertThrows } from "@std/assert";
import { readPostgresUrl, withoutPassword } from "../../../../src/base/store/postgres/settings.ts";
import { storeUrlFaults } from "../../../../src/base/store/store_url.ts";
import { steps } from "support/steps.ts";

Deno.test("A URL of PostgreSQL names several hosts, and its certificate and host name are verified by default", () => {
  const url = "postgres://hub:p%40ss@db1:6432,db2.example/hub?sslrootcert=/etc/hub/ca.pem&connections=4";
  assertEquals(readPostgresUrl(url), {
    hosts: ["db1:6432", "db2.example:5432"],
    user: "hub",
    password: "p@ss",
    database: "hub",
    isVerified: true,
    authorityFile: "/etc/hub/ca.pem",
    prepare: true,
    connections: 4,
  });
  assertEquals(readPostgresUrl("postgres://hub@db1:1,db2:65535/hub").hosts, ["db1:1", "db2:65535"]);
  const plain = {
    hosts: ["db:5432"],
    user: "h b",
    password: "",
    database: "h/b",
    isVerified: true,
    authorityFile: undefined,
    prepare: true,
    connections: 10,
  };
  const short = "postgresql://h%20b@db/h%2Fb";
  assertEquals(readPostgresUrl(short), plain);
  assertEquals(readPostgresUrl(`${short}?sslmode=verify-full&prepare=true&connections=10`), plain);
  const other = { ...plain, prepare: false, connections: 100 };
  assertEquals(readPostgresUrl(`${short}?prepare=false&connections=100`), other);
  assertEquals(readPostgresUrl(`${short}?connections=1`), { ...plain, connections: 1 });
  assertEquals(withoutPassword(url), url.replace("p%40ss", "***"));
});

Deno.test("A URL of PostgreSQL that does not verify, or that is not understood, is refused in one sentence", async (t) => {
  const base = "postgres://hub:secret@db/hub";
  const refused: Readonly<Record<string, string>> = {
    [`${base}?sslmode=require`]: "sslmode must be verify-full; require does not verify",
    [`${base}?sslmode=prefer`]: "sslmode must be verify-full; prefer does not verify",
    [`${base}?sslmode=verify-ca`]: "sslmode must be verify-full; verify-ca does not verify",
    [`${base}?sslmode=disable`]: "on this computer only, not for db:5432",
    "postgres://hub@127.0.0.1,db/hub?sslmode=disable": "on this computer only, not for db:5432",
    [`${base}?sslmode=verify-full&sslmode=disable`]: "sslmode is given twice",
    "postgres://hub:secret@db,10.0.0.1/hub": "the host 10.0.0.1:5432 must be a name",
    [`${base}?host=other`]:
      "the parameter host is unknown; known are sslmode, sslrootcert, prepare, connections",
    [`${base}?connections=101`]: "connections must be a number from 1 to 100",
    [`${base}?connections=1e1`]: "connections must be a number from 1 to 100",
    [`${base}?connections=0`]: "connections must be a number from 1 to 100",
    [`${base}?prepare=no`]: "prepare must be true or false",
    "postgres://db/hub": "must be postgres://USER",
    "postgres://hub:secret@db": "must be postgres://USER",
    "postgres://hub:secret@d b/hub": "the host d b must be a name",
    "postgres://hub:secret@db:0/hub": "the host db:0 must be a name",
    "postgres://hub:secret@db:65536/hub": "the host db:65536 must be a name",
    "postgres://h%ub:secret@db/hub": "the user must be percent-encoded",
    "postgres://hub:secret@db/h%ub": "the database must be percent-encoded",
    "postgres://hub:sec%ret@db/hub": "the password must be percent-encoded",
  };
  await steps(t, refused, (words, url) => {
    const { message } = assertThrows(() => readPostgresUrl(url), Error, words);
    assertEquals(message.includes("secret"), false);
  });
});

Deno.test("Only the sandbox may leave the connection to its database unencrypted", () => {
  const plain = "postgres://hub@127.0.0.1/hub?sslmode=disable";
  assertEquals(storeUrlFaults(plain, "Sandbox"), []);
  assertEquals(storeUrlFaults(plain, "Production"), [
    "sslmode=disable is for the sandbox; use sslmode=verify-full",
  ]);
  assertEquals(storeUrlFaults("postgres://hub@localhost/hub", "Production"), []);
  assertEquals(storeUrlFaults("/var/lib/hub/platform.kv", "Production"), []);
  assertEquals(storeUrlFaults("https://kv.example", "Sandbox").length, 1);
});
