/**
 * The systemd units of packaging/systemd. Their commands follow from the tasks of `deno.json`, and start the programs on
 * PostgreSQL: with the unit's rights, environment and working folder, as a user who owns nothing but its folders.
 */
import { assert, assertEquals } from "@std/assert";
import { serviceCommand, SERVICES, withCommand } from "../../../../scripts/upkeep/packaging/main.ts";
import { SOURCES } from "../../../../scripts/upkeep/packaging/image.ts";
import { present } from "testing/answers.ts";
import { privatePem, testAuthority } from "testing/directory_environment.ts";
import { testKey } from "testing/keys.ts";
import { openTlsPostgresServer, type TlsPostgresServer } from "testing/postgres_tls.ts";
import { postgresPrograms } from "testing/postgres_node.ts";
import { migrated } from "testing/postgres_server.ts";
import { openFixture } from "testing/served_environment.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";
import { type DenoConfig, startCommand } from "testing/served_platform.ts";
import { statementJwk } from "../../../../src/directory/statements/statement_keys.ts";

const root = new URL("../../../../", import.meta.url).pathname;
const read = (path: string): Promise<string> => Deno.readTextFile(root + path);
const { tasks } = JSON.parse(await read("deno.json")) as DenoConfig;

const UNITS = ["payment-platform", "participants-directory", "platform-signer"];
const pathOf = (program: string): string => `packaging/systemd/${program}.service`;

/** Of `systemd-analyze security`: 0 is best, 10 worst. */
const MOST_EXPOSED = 2;

Deno.test("units and images have the commands of the tasks [F9]: if this fails, run `deno task units`", async () => {
  for (const service of SERVICES) {
    const text = await read(service.file);
    const words = serviceCommand(present(tasks[service.task]).command, service);
    assertEquals(text, withCommand(text, service, words), service.file);
  }
});

Deno.test("the images have every file that the programs load [F9]", async () => {
  for (const entry of ["src/platform/process/main.ts", "src/directory/process/main.ts"]) {
    const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", entry], cwd: root })
      .output();
    const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: { specifier: string }[] };
    const files = modules.flatMap(({ specifier }) =>
      specifier.startsWith(`file://${root}`) ? [specifier.slice(`file://${root}`.length)] : []
    );
    assert(files.includes(entry));
    assertEquals(files.filter((file) => !SOURCES.includes(file.split("/")[0] ?? "")), [], entry);
  }
});

Deno.test({
  name: "systemd finds little exposure and no fault in the units [F9]",
  ignore: !isInstalled("systemd-analyze"),
  async fn() {
    for (const unit of UNITS) {
      const { stdout, stderr } = await new Deno.Command("systemd-analyze", {
        args: ["security", "--offline=true", root + pathOf(unit)],
        env: { SYSTEMD_COLORS: "0" },
      }).output();
      const [text, faults] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
      const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(text ?? "") ?? [];
      assertEquals(faults, "", unit);
      assert(Number(exposure) <= MOST_EXPOSED, `${unit}: ${exposure}`);
    }
  },
});

function isInstalled(program: string): boolean {
  try {
    return new Deno.Command(program, { args: ["--version"], stdout: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

Deno.test("a unit whose database is away at the start is started again for ever [F9]", async () => {
  for (const program of UNITS) {
    const unit = await unitOf(program);
    const again = ["StartLimitIntervalSec", "Restart", "RestartSec"].map(unit);
    assertEquals(again, [["0"], ["on-failure"], ["1"]], program);
  }
});

Deno.test("a unit whose process has keys writes no core file [F9]", async () => {
  for (const program of UNITS) assertEquals((await unitOf(program))("LimitCORE"), ["0"], program);
});

/** The lines of a unit by their names; repeated names keep each value. */
async function unitOf(program: string): Promise<(name: string) => readonly string[]> {
  const unit = await read(pathOf(program));
  return (name) => [...unit.matchAll(RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);
}

/** The user of the test's services, as the `User` of a unit. Without root the test runs them as itself. */
const USER = "nobody";

/** A folder that the service owns: `etc`, `var` and its copy of the packages. */
async function openHome(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "unit-" });
  await Promise.all(["etc", "var"].map((name) => Deno.mkdir(`${path}/${name}`, { mode: 0o700 })));
  const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  await Deno.mkdir(`${path}/var/deno`);
  await succeed("cp", "-a", `${cache}/npm`, `${path}/var/deno/npm`); // as `deno cache` of the page "Install" fills it
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function succeed(program: string, ...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args: [...args] }).output();
  assert(success, new TextDecoder().decode(stderr));
}

/** Starts the unit's command with other places for its folders and ports. */
async function startUnit(
  program: string,
  { home, env, ports }: {
    readonly home: string;
    readonly env: Readonly<Record<string, string>>;
    readonly ports: Readonly<Record<string, string>>;
  },
): Promise<ReturnType<typeof startCommand>> {
  const unit = await unitOf(program);
  const placed = (text: string): string =>
    Object.entries({
      [`/etc/${program}`]: `${home}/etc`,
      [`/var/lib/${program}`]: `${home}/var`,
      [`/opt/${program}/`]: root,
      "/usr/local/bin/deno": Deno.execPath(),
      "%d": `${home}/credentials`,
      "/run/%N": `${home}/var/run`,
      "/run/systemd/notify": `${home}/var/run/notify`,
      ...ports,
    }).reduce((before, [from, to]) => before.replaceAll(from, to), text);
  assertEquals([unit("User"), unit("WorkingDirectory")], [[program], [`/opt/${program}`]]);
  const command = placed(present(unit("ExecStart")[0])).split(" ");
  const [denoDir = ""] = unit("Environment").map(placed);
  assertEquals(denoDir, `DENO_DIR=${home}/var/deno`);
  await succeed("chmod", "755", home);
  const asUser = ["setpriv", `--reuid=${USER}`, "--regid=nogroup", "--clear-groups", "--no-new-privs"];
  if (Deno.uid() === 0) await succeed("chown", "-R", USER, home);
  return startCommand(
    [...(Deno.uid() === 0 ? asUser : []), ...command],
    root,
    { ...env, HOME: `${home}/var`, DENO_DIR: `${home}/var/deno` },
    program === "payment-platform" ? "platform.listening" : "directory.started",
  );
}

/** A database with the schema, and its URL with the server's name as the certificate has it. */
async function databaseOf(server: TlsPostgresServer, authority: string): Promise<string> {
  const { port, pathname } = new URL(await migrated(await server.newDatabase()));
  return `postgres://postgres@localhost:${port}${pathname}?sslrootcert=${authority}`;
}

/** Waits at the socket of the service manager for three messages, and prints them. */
async function listenAsSystemd(path: string): Promise<Deno.ChildProcess> {
  const program = `
    const socket = Deno.listenDatagram({ transport: "unixpacket", path: Deno.args[0] });
    await Deno.stderr.write(new TextEncoder().encode("listens"));
    for (let count = 0; count < 3; count++) console.log(new TextDecoder().decode((await socket.receive())[0]));`;
  const file = `${path}.js`;
  await Deno.writeTextFile(file, program);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-config",
      "--quiet",
      "--unstable-net",
      "--allow-net",
      "--allow-read",
      "--allow-write",
      file,
      path,
    ],
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(30_000),
  }).spawn();
  const reader = child.stderr.getReader();
  await reader.read();
  reader.releaseLock();
  return child;
}

const ignore = postgresPrograms() === undefined;

Deno.test({
  name:
    "the unit payment-platform starts the platform on PostgreSQL, as its user, and its watchdog is told that it is alive [F9]",
  ignore,
  async fn() {
    await using server = await openTlsPostgresServer(["localhost"]);
    await using fixture = await openFixture();
    await using home = await openHome();
    const etc = `${home.path}/etc`;
    for (const name of ["platform-keys.json", "wrapping.keys", "web-ca.pem"]) {
      await Deno.copyFile(`${fixture.folder}/${name}`, `${etc}/${name}`);
    }
    await Deno.copyFile(server.authority, `${etc}/db-ca.pem`);
    const env = {
      ...Object.fromEntries(
        Object.entries(fixture.env).map(([name, value]) => [name, value.replace(fixture.folder, etc)]),
      ),
      PLATFORM_STORE_URL: await databaseOf(server, `${etc}/db-ca.pem`),
      PLATFORM_DATA_KEYS_STORE: await databaseOf(server, `${etc}/db-ca.pem`),
      PLATFORM_LAME_DUCK_SECONDS: "0",
      PGPORT: "1", // of other programs on the computer
    };
    const runtime = `${home.path}/var/run`;
    await Deno.mkdir(runtime, { mode: 0o700 });
    const alive = await listenAsSystemd(`${runtime}/notify`);
    const systemd = {
      NOTIFY_SOCKET: `${runtime}/notify`,
      WATCHDOG_USEC: "400000",
      RUNTIME_DIRECTORY: runtime,
      STATE_DIRECTORY: `${home.path}/var`,
    };
    const platform = await startUnit("payment-platform", {
      home: home.path,
      env: { ...env, ...systemd },
      ports: {},
    });
    try {
      await platform.ready;
      const health = await fetch(`http://127.0.0.1:${fixture.env["PORT"]}/health/ready`);
      assertEquals([health.status, (await health.body?.cancel()) ?? ""], [200, ""]);
      assertEquals(new TextDecoder().decode((await alive.output()).stdout), "WATCHDOG=1\n".repeat(3));
    } finally {
      platform.kill("SIGTERM");
    }
    assertEquals(await platform.ended, { code: 0, stderr: "" });
  },
});

Deno.test({
  name: "the unit participants-directory starts the directory on PostgreSQL, as its user",
  ignore,
  async fn() {
    await using server = await openTlsPostgresServer(["localhost"]);
    await using home = await openHome();
    const etc = `${home.path}/etc`;
    const ca = await testAuthority();
    const write = async (name: string, text: string): Promise<string> => {
      await Deno.writeTextFile(`${etc}/${name}`, text, { mode: 0o600 });
      return `${etc}/${name}`;
    };
    await Deno.copyFile(server.authority, `${etc}/db-ca.pem`);
    const [publicPort, adminPort] = [String(freePort()), String(freePort())];
    const keys = { keys: [await statementJwk(await privatePem(await testKey(14)))] };
    const env = {
      DIRECTORY_ISSUER: "https://directory.example.com",
      DIRECTORY_PORT: publicPort,
      DIRECTORY_ADMIN_PORT: adminPort,
      DIRECTORY_STORE_URL: await databaseOf(server, `${etc}/db-ca.pem`),
      DIRECTORY_ADMINISTRATORS: await write("administrators.json", '{"administrators":[]}'),
      DIRECTORY_CA_CERT: await write("ca.pem", ca.certificatePem),
      DIRECTORY_CA_KEY: await write("ca.key.pem", ca.privateKeyPem),
      DIRECTORY_SIGNING_KEYS: await write("keys.json", JSON.stringify(keys)),
      PGPORT: "1",
    };
    const directory = await startUnit("participants-directory", {
      home: home.path,
      env,
      // The page says that a database's address must be added.
      ports: {
        "127.0.0.1:8090,127.0.0.1:8091":
          `127.0.0.1:${publicPort},127.0.0.1:${adminPort},localhost:${server.port}`,
      },
    });
    try {
      await directory.ready;
      const answer = await fetch(`http://127.0.0.1:${publicPort}/jwks`);
      assertEquals([answer.status, (await answer.body?.cancel()) ?? ""], [200, ""]);
    } finally {
      directory.kill("SIGTERM");
    }
    assertEquals(await directory.ended, { code: 0, stderr: "" });
  },
});
