/** `deno task serve --check`: one line for each thing that a start needs, and nothing is changed. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isOnOtherRuntime } from "testing/other_runtime.ts";
import { isPostgresMissing } from "support/postgres.ts";
import { openPostgresServer } from "testing/postgres_server.ts";
import { openFixture, openServedEnvironment } from "testing/served_environment.ts";
import { taskCommand } from "testing/served_platform.ts";

const [program = "", ...args] = await taskCommand("serve");

interface Report {
  readonly code: number;
  /** The name of each check with `ok` or `fault`. */
  readonly found: Readonly<Record<string, string>>;
  readonly text: string;
}

async function check(cwd: string, env: Readonly<Record<string, string>>): Promise<Report> {
  const inherited = Object.fromEntries(
    ["HOME", "DENO_DIR"].map((name) => [name, Deno.env.get(name) ?? ""]).filter(([, value]) => value !== ""),
  );
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args, "--check"],
    cwd,
    clearEnv: true,
    env: { NO_COLOR: "1", ...inherited, ...env },
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  const lines = [...text.matchAll(/^(ok|fault) +([a-z ]+): /gm)];
  return {
    code,
    text,
    found: Object.fromEntries(lines.map(([, verdict = "", name = ""]) => [name, verdict])),
  };
}

const PASSED = {
  configuration: "ok",
  keys: "ok",
  "wrapping keys": "ok",
  operators: "ok",
  database: "ok",
  "data keys": "ok",
  directory: "ok",
  clock: "ok",
};

Deno.test({
  name: "serve --check passes beside a process that serves, and names every part that fails [F10]",
  ignore: isOnOtherRuntime,
  async fn() {
    await using served = await openServedEnvironment();
    const { folder, env } = served.fixture;
    const files = async (): Promise<string[]> =>
      (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
    const before = await files();
    const sound = await check(folder, env);
    assertEquals([sound.code, sound.found, await files()], [0, PASSED, before], sound.text);
    const lost = await check(folder, {
      ...env,
      PLATFORM_STORE_URL: `${folder}/none/platform.kv`,
      HTTPS_PROXY: "http://127.0.0.1:9",
    });
    const faults = { database: "fault", directory: "fault", clock: "fault", "data keys": "fault" };
    assertEquals([lost.code, lost.found], [1, { ...PASSED, ...faults }], lost.text);
    assertStringIncludes(lost.text, "/jwks: no connection; check the name, the network, and DENO_CERT");
    const { code, found, text } = await check(folder, {
      ...env,
      PLATFORM_PROXY_SECRET: "short",
      PLATFORM_MAX_CONNECTIONS: "x",
    });
    assertEquals([code, found], [1, { configuration: "fault" }]);
    for (const name of ["PLATFORM_PROXY_SECRET: must have", "PLATFORM_MAX_CONNECTIONS: set it"]) {
      assertStringIncludes(text, name);
    }
  },
});

Deno.test({
  name:
    "serve --check names a database without a schema, and does not make it; the secret comes from a file [F10]",
  ignore: isOnOtherRuntime || isPostgresMissing,
  async fn() {
    await using server = await openPostgresServer();
    await using fixture = await openFixture("Sandbox");
    const { PLATFORM_PROXY_SECRET: PROXY_SECRET = "", ...env } = fixture.env;
    const url = `${fixture.folder}/store-url`;
    await Deno.writeTextFile(url, await server.newDatabase(), { mode: 0o600 });
    await Deno.writeTextFile(`${fixture.folder}/proxy-secret`, `${PROXY_SECRET}\n`, { mode: 0o600 });
    const { PLATFORM_STORE_URL: _, ...others } = env;
    const given = {
      ...others,
      PLATFORM_STORE_URL_FILE: url,
      PLATFORM_PROXY_SECRET_FILE: `${fixture.folder}/proxy-secret`,
      PLATFORM_DATA_KEYS_STORE: await server.newDatabase(),
    };
    for (const run of [1, 2]) {
      const { code, found, text } = await check(fixture.folder, given);
      assertEquals([code, found["database"], found["data keys"], found["configuration"]], [
        1,
        "fault",
        "fault",
        "ok",
      ], `${run}: ${text}`);
      assertStringIncludes(text, "the database has no schema; run deno task store migrate");
    }
    await Deno.chmod(url, 0o640);
    const open = await check(fixture.folder, given);
    assertStringIncludes(open.text, "PLATFORM_STORE_URL_FILE: others may open");
    assert(!open.text.includes(String(server.port)));
  },
});
