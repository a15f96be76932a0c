/**
 * `deno task image`: writes .data/image, the folder that packaging/container/Containerfile is built from: Deno from the
 * npm registry as packaging/container/package-lock.json has it, the sources, and the packages of the production locks.
 */
import { optionsOf, runProgram, UsageError } from "../../command_line/run.ts";
import { ROOT } from "../sources/source_files.ts";

const USAGE = `deno task image [--cpu x64|arm64]

  Writes .data/image, from which the container images are built. --cpu: this computer's by default.`;

const OUT = `${ROOT}.data/image`;
const CONTAINER = `${ROOT}packaging/container`;

/** Every module of the programs is in one of them. The portal serves pages of docs. */
export const SOURCES: readonly string[] = [
  "src",
  "docs",
  "examples",
  "deno.json",
  "production.lock",
  "directory.lock",
  "LICENSE",
];

/** The names of npm for the processors of the images. */
const PROCESSORS = ["x64", "arm64"];

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) => {
    const { cpu = Deno.build.arch === "aarch64" ? "arm64" : "x64" } = optionsOf(args, ["cpu"]);
    if (!PROCESSORS.includes(cpu)) throw new UsageError(`--cpu must be ${PROCESSORS.join(" or ")}`);
    await writeContext(cpu);
    print(`.data/image is complete. Build, for example: buildah build --target platform .data/image`);
  });
}

async function writeContext(cpu: string): Promise<void> {
  await Deno.remove(OUT, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Promise.all(
    ["source", "packages", "data"].map((name) => Deno.mkdir(`${OUT}/${name}`, { recursive: true })),
  );
  await Promise.all([
    copyDeno(cpu),
    copyPackages("platform", "production.lock"),
    copyPackages("directory", "directory.lock"),
    run(["cp", "-R", ...SOURCES, `${OUT}/source`]),
    run(["cp", "-R", "scripts", OUT]),
    ...["Containerfile", "healthcheck.js", "tool.js"].map((name) =>
      Deno.copyFile(`${CONTAINER}/${name}`, `${OUT}/${name}`)
    ),
  ]);
}

/** npm compares the package with the integrity in the lock file. */
async function copyDeno(cpu: string): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "image-" });
  try {
    for (const name of ["package.json", "package-lock.json"]) {
      await Deno.copyFile(`${CONTAINER}/${name}`, `${folder}/${name}`);
    }
    const target = ["--os=linux", `--cpu=${cpu}`, "--libc=glibc"];
    await run(["npm", "ci", "--silent", "--ignore-scripts", ...target, "--prefix", folder]);
    await Deno.copyFile(`${folder}/node_modules/@deno/linux-${cpu}-glibc/deno`, `${OUT}/deno`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What the lock has and nothing else, so that the image cannot load another package. */
async function copyPackages(name: string, lock: string): Promise<void> {
  const cache = `${OUT}/packages/${name}`;
  await run(["deno", "cache", "--quiet", "--frozen", `--lock=${lock}`, ...await entriesOf(lock)], {
    DENO_DIR: cache,
  });
  for await (const { name: part } of Deno.readDir(cache)) {
    if (part !== "npm") await Deno.remove(`${cache}/${part}`, { recursive: true }); // it names paths of this computer
  }
}

/** The programs whose packages a lock has, from the task that writes the locks. */
async function entriesOf(lock: string): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)) as {
    readonly tasks: { readonly "production-lock": { readonly command: string } };
  };
  const [, entries] = tasks["production-lock"].command.match(RegExp(`--lock=${lock} ([^&]+)`)) ?? [];
  if (entries === undefined) throw new Error(`the task production-lock writes no ${lock}`);
  return entries.trim().split(" ");
}

async function run(
  [program = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { success, stderr } = await new Deno.Command(program === "deno" ? Deno.execPath() : program, {
    args,
    env,
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(`${program} ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}
