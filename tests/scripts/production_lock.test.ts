/** `production.lock`: a deployment downloads what it runs, in the versions of `deno.lock`, and no package of the tests. */
import { assert, assertEquals } from "@std/assert";

const root = new URL("../../", import.meta.url);
const UPDATE = "run `deno task production-lock` and commit production.lock";
const OF_TESTS = ["axe-core", "deno-std", "fast-check", "js-tokens", "playwright-core"];
const TASKS = [
  "serve",
  "directory",
  "participant",
  "platform-keys",
  "proxy-config",
  "store",
  "reconcile",
  "ops",
  "log",
  "case",
];

interface Lock {
  readonly npm: Readonly<Record<string, unknown>>;
}

const read = async (path: string): Promise<string> => await Deno.readTextFile(new URL(path, root));
const lock = async (path: string): Promise<Lock> => JSON.parse(await read(path));

Deno.test("production.lock is a part of deno.lock, without the packages of the tests", async () => {
  const [production, whole] = [await lock("production.lock"), await lock("deno.lock")];
  const packages = Object.entries(production.npm);
  assert(packages.length > 10);
  for (const [name, entry] of packages) assertEquals(entry, whole.npm[name], `${name}: ${UPDATE}`);
  const ofTests = packages.filter(([name]) => OF_TESTS.some((one) => name.startsWith(`${one}@`)));
  assertEquals(ofTests.map(([name]) => name), []);
});

Deno.test("production.lock has every package that a deployment's programs import", async () => {
  const { tasks } = JSON.parse(await read("deno.json"));
  const entries = TASKS.map((task) => /((?:src|scripts)\/\S+\.tsx?)/.exec(tasks[task].command)?.[1] ?? "");
  for (const entry of entries) assert(tasks["production-lock"].command.includes(` ${entry}`), entry);
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--frozen", "--lock=production.lock", ...entries],
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  assertEquals(code, 0, `${new TextDecoder().decode(stderr)}\n${UPDATE}`);
});

Deno.test("every task of a deployment runs one program", async () => {
  const { tasks } = JSON.parse(await read("deno.json"));
  for (const task of TASKS) {
    assertEquals(tasks[task].command.match(/(?:src|scripts)\/\S+\.tsx?/g)?.length, 1, task);
  }
});

Deno.test("every program of a deployment runs with production.lock, as the documentation has it", async () => {
  const { tasks } = JSON.parse(await read("deno.json"));
  for (const task of TASKS) assert(tasks[task].command.startsWith("deno run --lock=production.lock "), task);
  const files = [...Deno.readDirSync(new URL("docs/operations/", root))].filter(({ isFile }) => isFile);
  const pages = files.map(({ name }) => read(`docs/operations/${name}`));
  const commands = (await Promise.all(pages)).join("\n").split("\n").filter((line) =>
    /\bdeno (?:cache|run) /.test(line)
  );
  assert(commands.length >= 3, commands.join("\n"));
  for (const command of commands) assert(command.includes("--lock=production.lock"), command);
});
