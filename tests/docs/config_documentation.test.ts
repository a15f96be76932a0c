/** docs/operations has every variable with its default, and services with exactly the permissions that they need. */
import { listFiles } from "../../scripts/upkeep/sources/source_files.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { RESERVED_FILES } from "../../src/base/http/open_files.ts";
import { OPERATIONS_CONNECTIONS } from "../../src/platform/process/serve.ts";
import { readConfig, VARIABLES } from "../../src/platform/config/config.ts";
import { DIRECTORY_VARIABLES, readDirectoryConfig } from "../../src/directory/process/config.ts";
import { privatePem, testAuthority } from "testing/directory_environment.ts";
import { testKey } from "testing/keys.ts";
import { statementJwk } from "../../src/directory/statements/statement_keys.ts";
import { SOUND_CONFIGURATION } from "support/sound_configuration.ts";
import { taskCommand } from "testing/served_platform.ts";

const [configuration, deployment, directory] = await Promise.all(
  ["configuration.md", "deployment.md", "directory.md"].map((page) =>
    Deno.readTextFile(new URL(`../../docs/operations/${page}`, import.meta.url))
  ),
) as [string, string, string];

Deno.test("docs/operations has a row for every variable, and for no other", () => {
  const rows = [...configuration.matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, name = ""]) => name);
  assertEquals(rows.sort(), [...VARIABLES].sort());
});

Deno.test("docs/operations has the defaults of readConfig", () => {
  const config = readConfig(SOUND_CONFIGURATION);
  const defaults: Readonly<Record<string, string>> = {
    HOST: config.host,
    PORT: String(config.port),
    PLATFORM_CLIENT_CERT_SOURCE: config.clientCertSource,
    PLATFORM_ENVIRONMENT: config.environment,
    PLATFORM_LOG_LEVEL: config.logLevel,
    PLATFORM_CURRENCIES: config.currencies.join(","),
  };
  for (const [name, value] of Object.entries(defaults)) {
    assert(RegExp(`^\\| \`${name}\` +\\| \`${value}\` +\\|`, "m").test(configuration), name);
  }
  for (const [group, { perSecond, burst }] of Object.entries(config.rateLimits)) {
    assert(configuration.includes(`\`${group}=${perSecond}/${burst}\``), group);
  }
});

Deno.test("docs/operations has a small .env with which a platform is configured", () => {
  const [, file = ""] = /<!-- a test reads this file -->\s+```sh\n(.*?)```/s.exec(configuration) ?? [];
  const lines = file.trim().split("\n").map((line) => line.split("=", 2));
  const values = Object.fromEntries(lines) as Record<string, string>;
  const secret = values["PLATFORM_PROXY_SECRET"];
  assertEquals(secret, "<output of openssl rand -hex 32>");
  const config = readConfig({
    ...values,
    PLATFORM_PROXY_SECRET: SOUND_CONFIGURATION.PLATFORM_PROXY_SECRET,
    PLATFORM_KEYS: '{"keys":[]}',
  });
  assertEquals([config.environment, config.operationsPort], ["Production", 18080]);
});

Deno.test("the commands for several processes change the file that .env leads to, and leave the link", async () => {
  const cwd = await Deno.makeTempDir();
  await Deno.writeTextFile(`${cwd}/shared`, "PORT=8080\nPLATFORM_OPERATIONS_PORT=18080\nHOST=127.0.0.1\n");
  await Deno.symlink(`${cwd}/shared`, `${cwd}/.env`); // as command 8 of install.md
  const [command = ""] = /^sed -i .* \.env/m.exec(deployment) ?? [];
  const { success } = await new Deno.Command("sh", { args: ["-c", command], cwd }).output();
  assert(success);
  assertEquals(await Deno.readLink(`${cwd}/.env`), `${cwd}/shared`);
  assertEquals(await Deno.readTextFile(`${cwd}/shared`), "HOST=127.0.0.1\n");
  await Deno.remove(cwd, { recursive: true });
});

Deno.test("the commands for secrets make files that others may not open, as the programs want them", async () => {
  const folder = await Deno.makeTempDir();
  const [commands = ""] = /^install -d -m 700 .*-secrets\n.*openssl.*/m.exec(configuration) ?? [];
  const script = commands.replaceAll("/etc/payment-platform-secrets", `${folder}/secrets`);
  const { success } = await new Deno.Command("sh", { args: ["-c", `umask 022\n${script}`] }).output();
  assert(success);
  const { mode } = await Deno.stat(`${folder}/secrets/proxy-secret`);
  assertEquals((mode ?? 0) & 0o077, 0);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("docs/operations has the number of open files without which a program does not start", () => {
  const platform = `2 × \`PLATFORM_MAX_CONNECTIONS\` + ${
    OPERATIONS_CONNECTIONS + RESERVED_FILES
  } open files beside`;
  assert(deployment.replaceAll("\n", " ").includes(platform), platform);
  assert(deployment.includes(`operators have ${OPERATIONS_CONNECTIONS} connections`));
  const ofDirectory = `2 × \`DIRECTORY_MAX_CONNECTIONS\` + ${RESERVED_FILES} open files beside`;
  assert(directory.replaceAll("\n", " ").includes(ofDirectory), ofDirectory);
});

Deno.test("docs/operations marks the variables without which a platform does not start", () => {
  const required = [...configuration.matchAll(/^\| `([A-Z_]+)` +\| required/gm)].map(([, name = ""]) => name);
  assertEquals(required.toSorted(), Object.keys(SOUND_CONFIGURATION).toSorted());
  for (const name of required) {
    const { [name as keyof typeof SOUND_CONFIGURATION]: _, ...rest } = SOUND_CONFIGURATION;
    assertThrows(() => readConfig(rest), name);
  }
});

function unitText(name: string): Promise<string> {
  return Deno.readTextFile(new URL(`../../packaging/systemd/${name}.service`, import.meta.url));
}

Deno.test("the platform's unit gives it the right to read its variables and systemd's, and no other", async () => {
  const allowed = /ExecStart=.* --allow-env=(\S+)/.exec(await unitText("payment-platform"))?.[1]?.split(",");
  const ofSystemd = ["NOTIFY_SOCKET", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "WATCHDOG_USEC"];
  const others = VARIABLES.filter((name) => !name.startsWith("PLATFORM_"));
  assertEquals(allowed?.sort(), ["PLATFORM_*", ...others, ...ofSystemd].sort());
});

/** Variables of the directory that may be absent and stand for no value then. */
const WITHOUT_DEFAULT = [
  "DIRECTORY_STORE_URL_FILE",
  "DIRECTORY_OIDC_CLIENT_SECRET_FILE",
  "DIRECTORY_SMTP_PASSWORD_FILE",
  "DIRECTORY_CERTIFIERS",
  "DIRECTORY_REQUIRE_CERTIFICATION",
  "DIRECTORY_CONSOLE_URL",
  "DIRECTORY_OIDC_ISSUER",
  "DIRECTORY_OIDC_ORGANISATION",
  "DIRECTORY_OIDC_ACR_VALUES",
  "DIRECTORY_OIDC_CLIENT_ID",
  "DIRECTORY_OIDC_CLIENT_SECRET",
  "DIRECTORY_SMTP_URL",
  "DIRECTORY_SMTP_USER",
  "DIRECTORY_SMTP_PASSWORD",
  "DIRECTORY_SMTP_CA",
  "DIRECTORY_MAIL_FROM",
  "DIRECTORY_MAIL_ADMINISTRATORS",
];

Deno.test("docs/operations has a row for every variable of the directory, with the default that the code has", async () => {
  const rows = [...directory.matchAll(/^\| `([A-Z_]+)` +\| +(?:`([^`]*)`|–) +\|/gm)];
  assertEquals(rows.map(([, name = ""]) => name).sort(), [...DIRECTORY_VARIABLES].sort());
  const ca = await testAuthority();
  const env: Record<string, string> = {
    DIRECTORY_ISSUER: "https://directory.example.com",
    DIRECTORY_STORE_URL: "/var/lib/participants-directory/directory.kv",
    DIRECTORY_ADMINISTRATORS: "administrators.json",
    DIRECTORY_CA_CERT: ca.certificatePem,
    DIRECTORY_CA_KEY: ca.privateKeyPem,
    DIRECTORY_SIGNING_KEYS: JSON.stringify({
      keys: [await statementJwk(await privatePem(await testKey(14)))],
    }),
  };
  const source = {
    readFile: () => Promise.resolve('{"administrators":[]}'),
    modesOf: () => Promise.resolve(undefined),
    now: Date.now(),
  };
  const written = rows.flatMap(([, name = "", value]) => value === undefined ? [] : [[name, value]]);
  assertEquals(
    await readDirectoryConfig({ ...source, env: { ...env, ...Object.fromEntries(written) } }),
    await readDirectoryConfig({ ...source, env }),
  );
  assertEquals(
    written.length,
    DIRECTORY_VARIABLES.length - Object.keys(env).length - WITHOUT_DEFAULT.length,
    "every default is written",
  );
});

Deno.test("the directory's unit gives it the rights of its task, and its two ports alone", async () => {
  const rights = (words: readonly string[], right: string): string[] =>
    (words.find((word) => word.startsWith(right))?.split("=")[1] ?? "").split(",")
      .filter((one) => !one.startsWith(".data") && one !== "%d").map((one) =>
        one.replace(/^.*\/\.env$/, ".env")
      ).sort();
  const unit = /^ExecStart=(.*)$/m.exec(await unitText("participants-directory"))?.[1]?.split(" ") ?? [];
  const task = await taskCommand("directory");
  for (const right of ["--allow-read", "--allow-write", "--allow-env"]) {
    assertEquals(rights(unit, right), rights(task, right), right);
  }
  assertEquals(rights(unit, "--allow-net"), ["127.0.0.1:8090", "127.0.0.1:8091"]);
});

Deno.test("docs/operations lists every event that the directory logs, and no other", async () => {
  const listed = [...directory.matchAll(/^\| (`[a-z_.`, ]+`) +\| (?:info|warn|error)/gm)]
    .flatMap(([, names = ""]) =>
      names.split(", ").map((name) => name.replaceAll("`", "").replace(/^(directory)?\./, "directory."))
    );
  // Of the base.
  const logged = new Set([
    "listener.accept_failed",
    "log.dropped",
    "directory.stopping",
    "directory.stopped_late",
    "directory.stopped_at_once",
  ]);
  for (const file of listFiles("src/directory", [".ts", ".tsx"])) {
    const source = await Deno.readTextFile(new URL(`../../${file}`, import.meta.url));
    for (const [, event = ""] of source.matchAll(/\blog\.(?:info|warn|error)\("([a-z_.]+)"/g)) {
      logged.add(event);
    }
  }
  assertEquals(listed.sort(), [...logged].sort());
});
