/**
 * `deno task serve --only`: three processes on one PostgreSQL database behind a real proxy, of which one serves
 * participants, one customers and documentation, and one operators.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { bodyOf, rejectionOf } from "testing/answers.ts";
import type { Processes } from "testing/operation_answers.ts";
import { cpuMilliseconds } from "../../../../scripts/proofs/bench/process.ts";
import { authorised } from "testing/authorization_flow.ts";
import { good, pay } from "testing/flows.ts";
import { MARIA, operatorsFile } from "testing/operators.ts";
import { openFixture } from "testing/served_environment.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";
import { type ServedPlatform, serving, startPlatform } from "testing/served_platform.ts";
import { isPostgresMissing, newPostgresDatabase } from "support/postgres.ts";
import { openProxiedEnvironment, type ProxiedEnvironment } from "support/proxied_environment.ts";
import { findProxy } from "support/proxy_program.ts";

const PAYMENTS = 5;
const AT_ONCE = 4;

for (const { name, program } of await Promise.all([findProxy("haproxy"), findProxy("nginx")])) {
  Deno.test({
    name: `serve --only: pages and the console take no time of the participants' process behind ${name} [O8]`,
    ignore: isPostgresMissing || program === undefined,
    async fn() {
      await using scene = await openScene(name, program ?? "");
      const { env, operations } = scene;
      const [api, browser] = env.started as readonly [ServedPlatform, ServedPlatform];
      const before = await Promise.all([api, browser, scene.console].map(({ pid }) => cpuMilliseconds(pid)));
      const flood = openFlood([
        new Request(`http://127.0.0.1:${env.backendPorts[1]}/docs`),
        new Request(`${operations.console}/operations/reports/banks`, { headers: MARIA }),
      ]);
      await flood.answered(200);
      const after = await Promise.all([api, browser, scene.console].map(({ pid }) => cpuMilliseconds(pid)));
      const [ofApi = 0, ...others] = after.map((spent, index) => spent - (before[index] ?? 0));
      for (const other of others) assert(ofApi < other / 4, `${ofApi} ms beside ${others.join(" and ")} ms`);

      for (let index = 0; index < PAYMENTS; index++) await good(pay(env, await authorised(env)), 201);
      assertEquals(await flood.end(), [200]);
    },
  });
}

Deno.test({
  name:
    "serve --only: a process answers 421 for what it does not serve, shows its health and metrics, and is seen by operators [OP17, OP18]",
  ignore: isPostgresMissing || (await findProxy("haproxy")).program === undefined,
  async fn() {
    const { program = "" } = await findProxy("haproxy");
    await using scene = await openScene("haproxy", program);
    const { env: { backendPorts: [api, browser] }, operations } = scene;
    const status = async (url: string): Promise<number> => {
      const { status, body } = await fetch(url, { headers: MARIA, redirect: "manual" });
      await body?.cancel();
      return status;
    };
    const [apiUrl, browserUrl] = [`http://127.0.0.1:${api}`, `http://127.0.0.1:${browser}`];
    const token = "/BANKA/token.oauth2/v1"; // a POST: where it is served, a GET is 405
    assertEquals([await status(`${apiUrl}${token}`), await status(`${browserUrl}${token}`)], [405, 421]);
    for (const path of ["/jwks", "/docs", "/", "/BANKA/authorization.oauth2", "/nowhere", "//"]) {
      assertEquals(await status(`${apiUrl}${path}`), 421, path);
      assert(await status(`${browserUrl}${path}`) !== 421, path);
    }
    for (const url of [apiUrl, browserUrl, operations.api, operations.console]) {
      assertEquals(await status(`${url}/health/live`), 200, url);
    }
    for (const url of [operations.api, operations.console]) {
      assertEquals(await status(`${url}/operations/metrics`), 200, url);
    }
    const standby = async (): Promise<string | undefined> => {
      const metrics = await (await fetch(`${operations.api}/operations/metrics`, { headers: MARIA })).text();
      return /^platform_store_standby (\d)$/m.exec(metrics)?.[1];
    };
    let waits = await standby();
    while (waits === undefined) waits = await standby(); // it is asked for at a scrape
    assertEquals(waits, "0", "this server has no standby");
    for (const path of ["/operations/payment-orders", "/console", "/operations/metrics/"]) {
      assertEquals(await status(`${operations.api}${path}`), 421, path);
      assert(await status(`${operations.console}${path}`) !== 421, path);
    }
    const answer = await fetch(`${apiUrl}/jwks`);
    assertMatch((await rejectionOf(answer)).error_description, /serves api alone; check PLATFORM_BACKENDS/);
    await processesAre(operations.console, [[`127.0.0.1:${api}`, "api", "works"], [
      `127.0.0.1:${browser}`,
      "browser",
      "works",
    ], [operations.console.slice("http://".length), "console", "works"]]);
    assertEquals((await scene.console.logged("platform.listening"))["only"], "console");
    assertEquals((await scene.console.logged("platform.listening"))["port"], undefined);
  },
});

Deno.test("serve --only refuses a database file, a part that does not exist, and a console without a port", async () => {
  await using fixture = await openFixture();
  const faults = async (status: number, ...args: readonly string[]): Promise<string> => {
    const process = await startPlatform(fixture.folder, fixture.env, {}, (command) => [...command, ...args]);
    const { code, stderr } = await process.ended;
    assertEquals(code, status);
    return stderr;
  };
  const ofConsole = await faults(1, "--only", "console");
  assertMatch(
    ofConsole,
    /PLATFORM_STORE_URL: --only console needs PostgreSQL; a database file belongs to one process/,
  );
  assertMatch(ofConsole, /PLATFORM_OPERATIONS_PORT: --only console needs it/);
  for (const args of [["--only"], ["--only=pages"], ["--only", "api", "browser"], ["--unknown", "api"]]) {
    assertMatch(
      await faults(2, ...args),
      /it takes --check, --only api, --only browser or --only console/,
      args.join(" "),
    );
  }
});

/** Each process notes its state in its first second. */
async function processesAre(console: string, expected: readonly (readonly string[])[]): Promise<void> {
  let found: unknown[] = [];
  for (let look = 0; look < 100 && found.length < expected.length; look++) {
    const answer = await fetch(`${console}/operations/processes`, { headers: MARIA });
    const { Data: { Process } } = await bodyOf<Processes>(answer);
    found = Process.map((one) => [one.Name, one.Serves, one.State]);
    await new Promise((done) => setTimeout(done, 100));
  }
  assertEquals(found.map(String).toSorted(), expected.map(String).toSorted());
}

interface Scene extends AsyncDisposable {
  readonly env: ProxiedEnvironment;
  readonly console: ServedPlatform;
  /** The operators' listeners of the processes that have one. */
  readonly operations: { readonly api: string; readonly console: string };
}

async function openScene(name: "haproxy" | "nginx", program: string): Promise<Scene> {
  const [apiPort, browserPort, consolePort] = [freePort(), freePort(), freePort()];
  const folder = await Deno.makeTempDir({ prefix: "served-parts-" });
  await Deno.writeTextFile(`${folder}/operators.json`, await operatorsFile(), { mode: 0o600 });
  const variables = {
    PLATFORM_STORE_URL: await newPostgresDatabase(),
    PLATFORM_DATA_KEYS_STORE: await newPostgresDatabase(),
    PLATFORM_ENVIRONMENT: "Sandbox",
    PLATFORM_OPERATORS: `${folder}/operators.json`,
  };
  const env = await openProxiedEnvironment(name, program, {
    count: 2,
    variables,
    parts: ["api", "browser"],
    operationsPorts: [apiPort, browserPort],
  });
  const console = await startPlatform(
    env.fixture.folder,
    { ...env.fixture.env, ...variables, PLATFORM_OPERATIONS_PORT: String(consolePort) },
    {},
    serving("console"),
  );
  await console.ready;
  return {
    env,
    console,
    operations: { api: `http://127.0.0.1:${apiPort}`, console: `http://127.0.0.1:${consolePort}` },
    async [Symbol.asyncDispose](): Promise<void> {
      console.kill("SIGTERM");
      assertEquals(await console.ended, { code: 0, stderr: "" });
      await env[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Sends each request again and again. */
function openFlood(requests: readonly Request[]): {
  /** Resolves when each has been answered this often. */
  answered(count: number): Promise<void>;
  /** Resolves with the different statuses. */
  end(): Promise<readonly number[]>;
} {
  const statuses = new Set<number>();
  const counts = requests.map(() => 0);
  let ending = false;
  const sending = requests.flatMap((request, index) =>
    Array.from({ length: AT_ONCE / 2 }, async () => {
      while (!ending) {
        const { status, body } = await fetch(request.clone());
        await body?.cancel();
        statuses.add(status);
        counts[index] = (counts[index] ?? 0) + 1;
      }
    })
  );
  for (const one of sending) one.catch(() => {}); // `end` rejects with it
  return {
    async answered(count) {
      while (Math.min(...counts) < count) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    async end() {
      ending = true;
      await Promise.all(sending);
      return [...statuses];
    },
  };
}
