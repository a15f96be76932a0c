/** `deno task serve` refuses to start on what is missing or unsafe: every fault at once, in words, with status 1. */
import { assert, assertEquals } from "@std/assert";
import type { PlatformKeys } from "testing/answers.ts";
import { VARIABLES } from "../../../../src/platform/config/config.ts";
import { openFixture, type ServedFixture } from "testing/served_environment.ts";
import { startPlatform, taskCommand } from "testing/served_platform.ts";

/** The faults it names, one a line; whatever else must hold of a rejection is asserted here. */
async function faultsOf(folder: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const process = await startPlatform(folder, env);
  const { code, stderr } = await process.ended;
  assertEquals(code, 1, stderr);
  assertEquals(process.lines, [], "nothing was started");
  const lines = stderr.trimEnd().split("\n");
  assertEquals(lines[0], "The configuration is not usable:", stderr);
  return lines.slice(1).map((line) => line.replace(/^ {2}- /, ""));
}

async function inFixture(test: (fixture: ServedFixture) => Promise<void>): Promise<void> {
  await using fixture = await openFixture();
  await test(fixture);
}

Deno.test("serve without configuration names every variable that has no default, and what to set", async () => {
  const folder = await Deno.makeTempDir();
  assertEquals(await faultsOf(folder, {}), [
    "PLATFORM_BASE_URL: set it to the API host, such as https://api.example.com",
    "PLATFORM_AUTH_URL: set it to the browser authorization host, such as https://auth.example.com",
    "PLATFORM_STORE_URL: set it to the path of a database file, or to postgres://…",
    "PLATFORM_KEYS: set it to the path of the platform's private JWK set (deno task platform-keys makes one)",
    "PLATFORM_DIRECTORY_ISSUER: set it to the issuer of software statements",
    "PLATFORM_DIRECTORY_JWKS_URI: set it to the directory's JWKS URL",
    "PLATFORM_DIRECTORY_HOSTS: set it to the hosts (comma separated) that serve participants' key sets",
    "PLATFORM_REGISTRATION_AUDIENCE: set it to the aud that registration JWTs carry",
    "PLATFORM_PROXY_SECRET: set it to the secret that the TLS proxy sends in x-proxy-secret",
    "PLATFORM_WRAPPING_KEYS: set it to the path of the keys that wrap data keys",
  ]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("serve names unsafe values of every kind in one rejection", () =>
  inFixture(async ({ folder, env }) => {
    const keys = JSON.parse(await Deno.readTextFile(env["PLATFORM_KEYS"] ?? "")) as PlatformKeys;
    const sandboxKeys = `${folder}/sandbox-keys.json`;
    await Deno.writeTextFile(sandboxKeys, JSON.stringify({ environment: "sandbox", ...keys }), {
      mode: 0o600,
    });
    const unsafe = {
      PLATFORM_BASE_URL: "http://api.platform.example",
      PLATFORM_AUTH_URL: "http://api.platform.example",
      PLATFORM_STORE_URL: ":memory:",
      PLATFORM_KEYS: sandboxKeys,
      PLATFORM_DIRECTORY_ISSUER: "http://directory.example",
      PLATFORM_PROXY_SECRET: "",
    };
    await Deno.writeTextFile(`${folder}/.env`, "PLATFORM_LOG_LEVEL=debug\n", { mode: 0o640 });
    assertEquals(await faultsOf(folder, { ...env, ...unsafe }), [
      "PLATFORM_PROXY_SECRET: set it to the secret that the TLS proxy sends in x-proxy-secret",
      "PLATFORM_BASE_URL: must be https",
      "PLATFORM_AUTH_URL: must be https",
      "PLATFORM_DIRECTORY_ISSUER: must be https",
      "PLATFORM_BASE_URL and PLATFORM_AUTH_URL: must be different hosts, only one asks for client certificates",
      "PLATFORM_STORE_URL: :memory: loses every payment at a restart; set the path of a file",
      "PLATFORM_KEYS: these are sandbox keys; make keys of your own with deno task platform-keys make",
      ".env: others may open .env; chmod 600 .env",
    ]);
  }));

Deno.test("serve rejects keys that it cannot read, that others can read, and that are no keys", () =>
  inFixture(async ({ folder, env }) => {
    const path = `${folder}/keys.json`;
    const rejection = async (): Promise<string[]> =>
      await faultsOf(folder, { ...env, PLATFORM_KEYS: path, PORT: "0" });
    const port = "PORT: set it to a port number";
    assertEquals(await rejection(), [port, `PLATFORM_KEYS: the file ${path} cannot be read`]);
    await Deno.writeTextFile(path, "no JSON", { mode: 0o644 });
    assertEquals(await rejection(), [port, `PLATFORM_KEYS: others may open ${path}; chmod 600 ${path}`]);
    await Deno.chmod(path, 0o640);
    assertEquals(
      await rejection(),
      [port, `PLATFORM_KEYS: others may open ${path}; chmod 600 ${path}`],
      "its group",
    );
    await Deno.chmod(path, 0o600);
    assertEquals(await rejection(), [port, "PLATFORM_KEYS: is not JSON"]);
    await Deno.writeTextFile(path, '{"keys":[]}');
    const [, fault] = await rejection();
    assert(fault?.startsWith("PLATFORM_KEYS: is not a private JWK set with sig"), fault);
  }));

Deno.test("serve does not start while its group or others may open .env", () =>
  inFixture(async ({ folder, env }) => {
    const secrets = `${folder}/.env`;
    for (const mode of [0o640, 0o604, 0o620]) {
      await Deno.writeTextFile(secrets, `PLATFORM_PROXY_SECRET=${env["PLATFORM_PROXY_SECRET"]}\n`);
      await Deno.chmod(secrets, mode);
      assertEquals(
        await faultsOf(folder, env),
        [".env: others may open .env; chmod 600 .env"],
        mode.toString(8),
      );
    }
  }));

Deno.test("serve rejects a port in use and a database in use, and names both", () =>
  inFixture(async ({ folder, env }) => {
    const first = await startPlatform(folder, env);
    await first.ready;
    try {
      assertEquals(await faultsOf(folder, env), [
        `PORT: ${env["PORT"]} on 127.0.0.1 is in use by another process; stop that one, or set another port`,
        `PLATFORM_STORE_URL: The database ${
          env["PLATFORM_STORE_URL"]
        } is in use by another process; stop that one first.`,
      ]);
    } finally {
      first.kill("SIGTERM");
      assertEquals((await first.ended).code, 0);
    }
  }));

Deno.test("serve rejects a store and an address that it cannot have", () =>
  inFixture(async ({ folder, env }) => {
    const [address, store] = await faultsOf(folder, {
      ...env,
      HOST: "192.0.2.1",
      PLATFORM_STORE_URL: `${folder}/missing/platform.kv`,
    });
    assert(address?.startsWith(`HOST and PORT: cannot listen on 192.0.2.1 port ${env["PORT"]}: `), address);
    assert(
      store?.startsWith(`PLATFORM_STORE_URL: The database ${folder}/missing/platform.kv cannot be opened: `),
      store,
    );
  }));

Deno.test("serve reads .env from where it starts; the process's own variables win; no .env is no fault [F6]", () =>
  inFixture(async ({ folder, env }) => {
    const file = Object.entries({ ...env, PORT: "none" }).map(([name, value]) => `${name}=${value}\n`);
    await Deno.writeTextFile(`${folder}/.env`, file.join(""), { mode: 0o600 });
    assertEquals(await faultsOf(folder, {}), ["PORT: set it to a port number"]);
    const process = await startPlatform(folder, {
      PORT: env["PORT"] ?? "",
      DENO_CERT: env["DENO_CERT"] ?? "",
      HTTPS_PROXY: env["HTTPS_PROXY"] ?? "",
    });
    await process.ready;
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0);
  }));

Deno.test("serve may read variables of its prefix and the others that it reads by name, and no more [F7]", async () => {
  const allowed = (await taskCommand("serve")).find((word) => word.startsWith("--allow-env"));
  const others = VARIABLES.filter((name) => !name.startsWith("PLATFORM_"));
  assertEquals(allowed?.split("=")[1]?.split(",").sort(), ["PLATFORM_*", ...others].sort());
});

Deno.test("serve names a database that was emptied or belongs to another address, and starts on a new one", () =>
  inFixture(async ({ folder, env }) => {
    const path = env["PLATFORM_STORE_URL"] ?? "";
    await startAndStop(folder, env);
    const elsewhere = { ...env, PLATFORM_AUTH_URL: "https://other.example" };
    assertEquals(await faultsOf(folder, elsewhere), [
      `PLATFORM_STORE_URL: The database ${path} belongs to the platform at ${
        env["PLATFORM_AUTH_URL"]
      }, not to the one at ` +
      `https://other.example. Name another database, or assign it with deno task store assign.`,
    ]);
    await Deno.truncate(path);
    assertEquals(await faultsOf(folder, env), [
      `PLATFORM_STORE_URL: The database ${path} is empty, although it was in use here (${path}.id names it). ` +
      `Restore a backup. To begin with an empty database, delete ${path}.id and ${path}-wal.`,
    ]);
    await Deno.remove(`${path}.id`);
    await startAndStop(folder, env);
  }));

async function startAndStop(folder: string, env: Readonly<Record<string, string>>): Promise<void> {
  const process = await startPlatform(folder, env);
  await process.ready;
  process.kill("SIGTERM");
  assertEquals((await process.ended).code, 0);
}
