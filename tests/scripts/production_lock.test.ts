/** `production.lock` and `directory.lock`: a deployment downloads what it runs, in the versions of `deno.lock`, and no package of the tests. */
import { assert, assertEquals } from "@std/assert";
import { stepsOf } from "support/steps.ts";
import type { DenoConfig } from "testing/served_platform.ts";

const root = new URL("../../", import.meta.url);
const UPDATE = "run `deno task production-lock` and commit the files";
const OF_TESTS = ["axe-core", "deno-std", "fast-check", "js-tokens", "playwright-core"];
const TASKS = [
  "serve",
  "participant",
  "platform-keys",
  "proxy-config",
  "store",
  "reconcile",
  "ops",
  "log",
  "case",
];

const DIRECTORY = "src/directory/process/main.ts";

interface Lock {
  readonly npm: Readonly<Record<string, unknown>>;
}

const read = async (path: string): Promise<string> => await Deno.readTextFile(new URL(path, root));
const lock = async (path: string): Promise<Lock> => JSON.parse(await read(path)) as Lock;

const LOCKS = ["production.lock", "directory.lock"];

Deno.test("each lock of a deployment is a part of deno.lock, without the packages of the tests", async (t) => {
  await stepsOf(t, LOCKS, (name) => name, async (name) => await assertPart(await lock(name)));
});

Deno.test("only the directory downloads the library that sends mails [E9]", async () => {
  const has = async (name: string): Promise<boolean> =>
    Object.keys((await lock(name)).npm).some((one) => one.startsWith("nodemailer@"));
  assertEquals(await Promise.all(LOCKS.map(has)), [false, true]);
});

async function assertPart(production: Lock): Promise<void> {
  const whole = await lock("deno.lock");
  const packages = Object.entries(production.npm);
  assert(packages.length > 10);
  for (const [name, entry] of packages) assertEquals(entry, whole.npm[name], `${name}: ${UPDATE}`);
  const ofTests = packages.filter(([name]) => OF_TESTS.some((one) => name.startsWith(`${one}@`)));
  assertEquals(ofTests.map(([name]) => name), []);
}

Deno.test("the locks have every package that a deployment's programs import", async () => {
  const { tasks } = JSON.parse(await read("deno.json")) as DenoConfig;
  const entries = TASKS.map((task) =>
    /((?:src|scripts)\/\S+\.tsx?)/.exec(tasks[task]?.command ?? "")?.[1] ?? ""
  );
  for (const entry of entries) assert(tasks["production-lock"]?.command.includes(` ${entry}`), entry);
  for (const [name, programs] of [["production.lock", entries], ["directory.lock", [DIRECTORY]]] as const) {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["cache", "--frozen", `--lock=${name}`, ...programs],
      cwd: root,
      env: { NO_COLOR: "1" },
    }).output();
    assertEquals(code, 0, `${new TextDecoder().decode(stderr)}\n${UPDATE}`);
  }
});

Deno.test("every task of a deployment runs one program", async () => {
  const { tasks } = JSON.parse(await read("deno.json")) as DenoConfig;
  for (const task of TASKS) {
    assertEquals(tasks[task]?.command.match(/(?:src|scripts)\/\S+\.tsx?/g)?.length, 1, task);
  }
});

Deno.test("every program of a deployment runs with its lock, as the documentation has it", async () => {
  const { tasks } = JSON.parse(await read("deno.json")) as DenoConfig;
  for (const task of TASKS) assert(tasks[task]?.command.startsWith("deno run --lock=production.lock "), task);
  assert(tasks["directory"]?.command.startsWith("deno run --lock=directory.lock "));
  const files = [...Deno.readDirSync(new URL("docs/operations/", root))].filter(({ isFile }) => isFile);
  const pages = files.map(({ name }) => read(`docs/operations/${name}`));
  const commands = (await Promise.all(pages)).join("\n").split("\n").filter((line) =>
    /\bdeno (?:cache|run) /.test(line)
  );
  assert(commands.length >= 3, commands.join("\n"));
  for (const command of commands) {
    assert(
      command.includes(`--lock=${command.includes(DIRECTORY) ? "directory" : "production"}.lock`),
      command,
    );
  }
});
