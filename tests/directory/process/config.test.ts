/** The configuration of a directory that runs alone: what it takes, and that it names every fault at once. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { JSONWebKeySet } from "jose";
import {
  ADMINISTRATORS,
  openCredentials,
  readCredentials,
  soleCredential,
} from "../../../src/base/http/credentials.ts";
import { NO_CERTIFIERS } from "../../../src/directory/certification/certifiers.ts";
import { composeDirectory } from "../../../src/directory/process/compose_directory.ts";
import { DirectoryConfigError } from "../../../src/directory/process/config.ts";
import { statementJwk } from "../../../src/directory/statements/statement_keys.ts";
import { ApiError } from "../../../src/base/kernel/api_error.ts";
import { openTestStore } from "testing/test_store.ts";
import {
  makeAuthority,
  privatePem,
  START,
  testAuthority,
  testStatementKeys,
} from "testing/directory_environment.ts";
import { smallTestKey, testKey } from "testing/keys.ts";
import { environment, read, signingKeys } from "./config_values.ts";

const TOKEN = "an-administration-token-of-40-characters";

Deno.test("readDirectoryConfig takes PEM or paths, and defaults to loopback and production [F3]", async () => {
  const ca = await testAuthority();
  assertEquals(await read(), {
    issuer: "https://directory.example",
    listen: { hostname: "127.0.0.1", port: 8090 },
    adminListen: { hostname: "127.0.0.1", port: 8091 },
    maxConnections: 400,
    storeUrl: "/var/lib/directory.kv",
    administratorsFile: "administrators.json",
    ca,
    signingKeys: await signingKeys(),
    signingKeysFile: undefined,
    publicLimit: { perSecond: 50, burst: 200 },
    certification: { certifiers: NO_CERTIFIERS, requiredDays: undefined },
    fourEyes: ["onboard", "statement", "certificates", "login", "activate"],
    console: { url: "http://localhost:8091" },
    mail: undefined,
    environment: "Production",
  });
});

Deno.test("readDirectoryConfig names every fault at once, quoting no secret [F3]", async () => {
  const nothing = Object.fromEntries(Object.keys(await environment()).map((name) => [name, undefined]));
  const missing = await assertRejects(() => read(nothing), DirectoryConfigError);
  assertEquals(missing.faults.map((fault: string) => fault.split(":")[0]), Object.keys(nothing));
  const wrong = await assertRejects(() =>
    read({
      DIRECTORY_ISSUER: "http://directory.example",
      DIRECTORY_PORT: "80800",
      DIRECTORY_STORE_URL: ":memory:",
      DIRECTORY_ADMIN_PORT: "8090",
      DIRECTORY_CA_KEY: "nowhere.pem",
      DIRECTORY_SIGNING_KEYS: '{"keys":[{"kty":"RSA","d":"AAAA"}]}',
      DIRECTORY_FOUR_EYES: "onboard,everything",
      DIRECTORY_ENVIRONMENT: "production",
    }), DirectoryConfigError);
  assertEquals(wrong.faults, [
    "DIRECTORY_PORT: must be a port number",
    "DIRECTORY_FOUR_EYES: set it to none, or to changes, comma separated: onboard, statement, certificates, login, activate, suspend, revoke",
    "DIRECTORY_ENVIRONMENT: must be Production or Sandbox",
    "DIRECTORY_ISSUER: must be https",
    "DIRECTORY_STORE_URL: :memory: forgets every participant at a restart; set the path of a file",
    "DIRECTORY_CA_KEY: the file nowhere.pem cannot be read by this process",
    "DIRECTORY_SIGNING_KEYS: is not a private JWK set of `use: sig` RSA keys; look at: keys.0.kid, keys.0.n, keys.0.e, keys.0.p, keys.0.q, keys.0.dp, keys.0.dq, keys.0.qi, keys.0.use",
  ]);
  assert(!wrong.message.includes("AAAA"));
});

Deno.test("readDirectoryConfig reads the mail server, and rejects one without TLS and an incomplete one [F3, DRM4]", async () => {
  const mail = {
    DIRECTORY_SMTP_URL: "smtp://mail.example:587",
    DIRECTORY_MAIL_FROM: "no-reply@directory.example",
    DIRECTORY_MAIL_ADMINISTRATORS: "administrators@directory.example",
  };
  const smtp = async (changes: Record<string, string>): Promise<unknown> =>
    (await read({ ...mail, ...changes })).mail?.smtp;
  const of = { host: "mail.example", port: 587, security: "starttls", login: undefined, ca: undefined };
  assertEquals(await smtp({}), of);
  const login = { user: "directory", password: "secret" };
  const credentials = { DIRECTORY_SMTP_USER: login.user, DIRECTORY_SMTP_PASSWORD: login.password };
  assertEquals(await smtp({ ...credentials, DIRECTORY_SMTP_URL: "smtps://mail.example:465" }), {
    ...of,
    port: 465,
    security: "tls",
    login,
  });
  assertEquals(await smtp({ DIRECTORY_SMTP_URL: "smtp://127.0.0.1:25" }), {
    ...of,
    host: "127.0.0.1",
    port: 25,
  });
  assertEquals((await read({ ...mail, DIRECTORY_REMINDER_DAYS: "14,2,14" })).mail?.days, [14, 2]);
  const faulty: readonly [Record<string, string | undefined>, string][] = [
    [
      { DIRECTORY_SMTP_URL: "smtp://user:secret@mail.example:587" },
      "DIRECTORY_SMTP_URL: must be smtp://host:port",
    ],
    [{ DIRECTORY_SMTP_URL: "http://mail.example:587" }, "DIRECTORY_SMTP_URL: must be smtp://host:port"],
    [{ DIRECTORY_SMTP_URL: undefined }, "DIRECTORY_SMTP_URL: set it too"],
    [{ DIRECTORY_SMTP_USER: "directory" }, "DIRECTORY_SMTP_USER and DIRECTORY_SMTP_PASSWORD: set both"],
    [{ DIRECTORY_MAIL_FROM: undefined }, "DIRECTORY_MAIL_FROM and DIRECTORY_MAIL_ADMINISTRATORS: set both"],
    [
      { DIRECTORY_MAIL_FROM: "a@b.example\r\nBcc: c@d.example" },
      "DIRECTORY_MAIL_FROM: must be a mail address",
    ],
    [{ DIRECTORY_REMINDER_DAYS: "0" }, "DIRECTORY_REMINDER_DAYS: set it to"],
    [{ DIRECTORY_REMINDER_DAYS: "366" }, "DIRECTORY_REMINDER_DAYS: set it to"],
    [{ DIRECTORY_SMTP_CA: "nowhere.pem" }, "DIRECTORY_SMTP_CA: the file nowhere.pem"],
  ];
  for (const [changes, words] of faulty) {
    const { message } = await assertRejects(() => read({ ...mail, ...changes }), DirectoryConfigError);
    assert(message.includes(words) && !message.includes("secret"), message);
  }
});

Deno.test("readDirectoryConfig rejects issuers that would not be one string everywhere [F3]", async () => {
  for (
    const issuer of [
      "directory.example",
      "https://directory.example/",
      "https://directory.example?x=1",
      "https://a@directory.example",
    ]
  ) {
    await assertRejects(() => read({ DIRECTORY_ISSUER: issuer }), DirectoryConfigError, "DIRECTORY_ISSUER");
  }
  const sandbox = {
    DIRECTORY_ENVIRONMENT: "Sandbox",
    DIRECTORY_ISSUER: "http://localhost:8442",
    DIRECTORY_STORE_URL: ":memory:",
  };
  assertEquals((await read(sandbox)).issuer, "http://localhost:8442");
});

Deno.test("readDirectoryConfig takes a file as its store, and no URL [G10]", async () => {
  for (const url of ["https://kv.example/database", "http://kv.example", "kv:1"]) {
    const { faults } = await assertRejects(() => read({ DIRECTORY_STORE_URL: url }), DirectoryConfigError);
    assertEquals(faults, [
      "DIRECTORY_STORE_URL: must be the path of a database file, or postgres://…; other URLs are not supported",
    ]);
  }
});

Deno.test("readDirectoryConfig rejects authorities that cannot issue [F3]", async () => {
  const [from, to] = [new Date("2025-01-01"), new Date("2035-01-01")];
  const own = (await testAuthority()).certificatePem;
  const unfit: readonly [Record<string, string>, string][] = [
    [
      { DIRECTORY_CA_CERT: `${own}\n${(await makeAuthority(from, to, true, "CN=Another")).certificatePem}` },
      "certificate is followed by one that is not of its issuer",
    ],
    [
      { DIRECTORY_CA_CERT: (await makeAuthority(from, to, false)).certificatePem },
      "certificate is not a CA's",
    ],
    [
      { DIRECTORY_CA_CERT: (await makeAuthority(from, new Date(START))).certificatePem },
      "certificate has expired",
    ],
    [{ DIRECTORY_CA_CERT: "-----BEGIN CERTIFICATE-----\nAAAA" }, "certificate is not a PEM certificate"],
    [
      { DIRECTORY_CA_KEY: await privatePem(await testKey(0)) },
      "private key is not the one of its certificate",
    ],
    [
      { DIRECTORY_CA_KEY: "-----BEGIN RSA PRIVATE KEY-----" },
      "private key is not PEM of PKCS 8 (BEGIN PRIVATE KEY)",
    ],
  ];
  for (const [changes, words] of unfit) {
    const { faults } = await assertRejects(() => read(changes), DirectoryConfigError);
    assertEquals(faults, [`DIRECTORY_CA_CERT and DIRECTORY_CA_KEY: the ${words}`]);
  }
});

Deno.test("readDirectoryConfig rejects a sandbox's authority in production [F3]", async () => {
  const { certificatePem } = await makeAuthority(
    new Date("2025-01-01"),
    new Date("2035-01-01"),
    true,
    "CN=Sandbox Participants CA, O=Payment Initiation Sandbox",
  );
  const { faults } = await assertRejects(
    () => read({ DIRECTORY_CA_CERT: certificatePem }),
    DirectoryConfigError,
  );
  assertEquals(faults, ["DIRECTORY_CA_CERT: is a sandbox's authority; make one of your own"]);
  const sandbox = { DIRECTORY_ENVIRONMENT: "Sandbox", DIRECTORY_CA_CERT: certificatePem };
  assertEquals((await read(sandbox)).environment, "Sandbox");
});

Deno.test("readDirectoryConfig rejects keys that are a sandbox's, too small, misnamed or not whole [F3]", async () => {
  const { keys: [jwk] } = JSON.parse(await signingKeys()) as JSONWebKeySet;
  const other = await statementJwk(await privatePem(await testKey(13)));
  const unfit: readonly [unknown, string][] = [
    [{ environment: "sandbox", keys: [jwk] }, "these are sandbox keys"],
    [{ keys: [await statementJwk(await privatePem(await smallTestKey()))] }, "cannot be used"],
    [{ keys: [{ ...jwk, kid: "mine" }] }, "a kid that is not its RFC 7638 thumbprint"],
    [{ keys: [{ ...jwk, d: other.d, p: other.p, q: other.q }] }, "private half is not its public half"],
    [{ keys: [jwk, jwk] }, "one key for two purposes"],
    [{ keys: [{ ...jwk, nbf: START / 1000 + 1 }] }, "no key whose nbf has passed"],
  ];
  for (const [keys, words] of unfit) {
    const { faults } = await assertRejects(
      () => read({ DIRECTORY_SIGNING_KEYS: JSON.stringify(keys) }),
      DirectoryConfigError,
    );
    assertEquals(faults.length, 1);
    assert(faults[0]?.startsWith("DIRECTORY_SIGNING_KEYS: ") && faults[0].includes(words), faults[0]);
  }
});

Deno.test("an administrator's token that could be guessed is rejected from every source [E3]", () => {
  for (const token of ["x".repeat(40), "short", "abcabcabcabcabcabcabcabcabcabcabcabc"]) {
    const error = assertThrows(() => soleCredential("ana", token), Error);
    assert(!error.message.includes(token));
  }
});

Deno.test("a malformed list of administrators is rejected, in words that quote no value [E3]", async () => {
  const credential = {
    id: "dira-0123456789abcdef",
    name: "ana",
    token_sha256: "A".repeat(43),
    added_at: "2026-02-01T10:00:00.000Z",
    expires_at: "2026-05-02T10:00:00.000Z",
  };
  const other = { ...credential, id: "dira-fedcba9876543210" };
  const wrong: readonly [unknown, string][] = [
    [{}, "look at: administrators"],
    [{ administrators: [{ ...credential, name: "a b" }] }, "look at: administrators.0.name"],
    [
      { administrators: [{ ...credential, token_sha256: "secret" }] },
      "look at: administrators.0.token_sha256",
    ],
    [{ administrators: [credential, credential] }, "two credentials with one id"],
    [{ administrators: [credential, other] }, "two credentials in force for one name"],
  ];
  for (const [list, words] of wrong) {
    const { message } = assertThrows(
      () => readCredentials(ADMINISTRATORS, JSON.stringify(list), Date.parse("2026-03-01T10:00:00.000Z")),
      Error,
      words,
    );
    assert(!message.includes("secret"));
  }
  const text = (): Promise<string> => Promise.resolve("{");
  const broken = openCredentials(ADMINISTRATORS, { version: () => Promise.resolve("1"), text }, Date.now);
  await assertRejects(() => broken.identify("dira-0123456789abcdef.x"), ApiError, "is not JSON");
});

Deno.test("composeDirectory rejects weak parts from every caller [F3]", async () => {
  await using store = await openTestStore();
  const parts = {
    issuer: "https://directory.example",
    administrators: soleCredential("ana", TOKEN),
    ca: await testAuthority(),
    statementKeys: await testStatementKeys(),
    store,
    clock: (): number => START,
    environment: "Production",
    loopbackRedirects: false,
  };
  const small = await privatePem(await smallTestKey());
  const weak: readonly [
    Partial<typeof parts> & { statementDays?: number; certificateDays?: number },
    string,
  ][] = [
    [{ issuer: "https://directory.example/" }, "without a trailing slash"],
    [{ statementDays: 733 }, "1 to 732 days"],
    [{ certificateDays: 0.5 }, "certificates 1 to"],
    [{ ca: { ...parts.ca, privateKeyPem: small } }, "the CA: private key is not the one of its certificate"],
  ];
  for (const [changes, words] of weak) {
    await assertRejects(() => composeDirectory({ ...parts, ...changes }), Error, words);
  }
});

Deno.test("readDirectoryConfig rejects changes of two administrators that one can get round [DRC13]", async () => {
  const faulty: readonly [string, string][] = [
    ["onboard,certificates", "certificates needs login"],
    ["suspend,revoke,login", "suspend needs activate"],
    ["suspend,activate", "suspend needs revoke"],
    ["revoke", "revoke needs login"],
  ];
  for (const [names, fault] of faulty) {
    const error = await assertRejects(() => read({ DIRECTORY_FOUR_EYES: names }), DirectoryConfigError);
    assertEquals(error.faults.length, 1, names);
    assert(error.faults[0]?.startsWith(`DIRECTORY_FOUR_EYES: ${fault} too`), error.message);
  }
  assertEquals((await read({ DIRECTORY_FOUR_EYES: "none" })).fourEyes, []);
  assertEquals((await read({ DIRECTORY_FOUR_EYES: "login,certificates" })).fourEyes, [
    "login",
    "certificates",
  ]);
});
