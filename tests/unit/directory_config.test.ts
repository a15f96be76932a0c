/** The configuration of a directory that runs alone: what it takes, and that it names every fault at once. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { composeDirectory } from "../../src/directory/compose_directory.ts";
import { DirectoryConfigError, readDirectoryConfig } from "../../src/directory/config.ts";
import { openDenoKv } from "../../src/store/deno_kv.ts";
import { makeAuthority, privatePem, START, testAuthority } from "../support/directory_world.ts";
import { smallTestKey, testKey } from "../support/keys.ts";

const TOKEN = "an-administration-token-of-40-characters";

async function environment(): Promise<Record<string, string | undefined>> {
  const ca = await testAuthority();
  return {
    DIRECTORY_ISSUER: "https://directory.example",
    DIRECTORY_STORE_URL: "/var/lib/directory.kv",
    DIRECTORY_ADMIN_TOKEN: TOKEN,
    DIRECTORY_CA_CERT: ca.certificatePem,
    DIRECTORY_CA_KEY: "ca.key.pem",
    DIRECTORY_SIGNING_KEY: await privatePem(await testKey(14)),
  };
}

async function read(
  changes: Record<string, string | undefined> = {},
): ReturnType<typeof readDirectoryConfig> {
  const files: Record<string, string> = { "ca.key.pem": (await testAuthority()).privateKeyPem };
  const readFile = (path: string): Promise<string> => {
    const text = files[path];
    return text === undefined ? Promise.reject(new Error("no such file")) : Promise.resolve(text);
  };
  return await readDirectoryConfig({ env: { ...await environment(), ...changes }, readFile, now: START });
}

Deno.test("readDirectoryConfig takes PEM or paths, and defaults to loopback and production [F3]", async () => {
  const ca = await testAuthority();
  assertEquals(await read(), {
    issuer: "https://directory.example",
    host: "127.0.0.1",
    port: 8090,
    storeUrl: "/var/lib/directory.kv",
    adminToken: TOKEN,
    ca,
    signingKeyPem: await privatePem(await testKey(14)),
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
      DIRECTORY_ADMIN_TOKEN: "short-secret",
      DIRECTORY_CA_KEY: "nowhere.pem",
      DIRECTORY_SIGNING_KEY: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
      ENVIRONMENT: "production",
    }), DirectoryConfigError);
  assertEquals(wrong.faults, [
    "DIRECTORY_PORT: must be a port number",
    "DIRECTORY_ADMIN_TOKEN: must have at least 32 characters",
    "ENVIRONMENT: must be Production or Sandbox",
    "DIRECTORY_ISSUER: must be https",
    "DIRECTORY_STORE_URL: :memory: forgets every participant at a restart; set a file or an https: URL",
    "DIRECTORY_CA_KEY: the file that it names cannot be read",
    "DIRECTORY_SIGNING_KEY: the private key is not RSA",
  ]);
  assert(!wrong.message.includes("short-secret"));
});

Deno.test("readDirectoryConfig refuses issuers that would not be one string everywhere [F3]", async () => {
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
    ENVIRONMENT: "Sandbox",
    DIRECTORY_ISSUER: "http://localhost:8442",
    DIRECTORY_STORE_URL: ":memory:",
  };
  assertEquals((await read(sandbox)).issuer, "http://localhost:8442");
});

Deno.test("readDirectoryConfig refuses authorities that cannot issue [F3]", async () => {
  const [from, to] = [new Date("2025-01-01"), new Date("2035-01-01")];
  const unfit: readonly [Record<string, string>, string][] = [
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

Deno.test("composeDirectory refuses weak parts whoever composes it [F3]", async () => {
  const store = await openDenoKv(":memory:");
  const parts = {
    issuer: "https://directory.example",
    adminToken: TOKEN,
    ca: await testAuthority(),
    signingKeyPem: await privatePem(await testKey(14)),
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
    [{ adminToken: "x".repeat(31) }, "at least 32 characters"],
    [{ issuer: "https://directory.example/" }, "without a trailing slash"],
    [{ statementDays: 733 }, "1 to 732 days"],
    [{ certificateDays: 0.5 }, "certificates 1 to"],
    [{ signingKeyPem: small }, "the signing key: private key is not usable"],
    [{ ca: { ...parts.ca, privateKeyPem: small } }, "the CA: private key is not the one of its certificate"],
  ];
  for (const [changes, words] of weak) {
    await assertRejects(() => composeDirectory({ ...parts, ...changes }), Error, words);
  }
  store.close();
});
