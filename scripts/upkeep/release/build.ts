/**
 * Builds the files of a release from a commit, in a folder of its own: what the working tree has besides has no effect.
 * Two builds of a commit are equal byte for byte.
 */
import { ROOT } from "../sources/source_files.ts";
import { billOf, type Lock, type Released } from "./sbom.ts";

/** The folders of the tree that operators take as they are, by their name in the release. */
const AS_THEY_ARE: Readonly<Record<string, string>> = {
  "packaging/container": "container",
  "packaging/systemd": "systemd",
  "packaging/compose": "compose",
  "packaging/patroni": "patroni",
  "packaging/pgbouncer": "pgbouncer",
  "packaging/signer": "signer",
  "packaging/kubernetes": "kubernetes",
  "docs/operations/prometheus": "prometheus",
  "docs/operations/grafana": "grafana",
  "docs/operations/alertmanager": "alertmanager",
};

/** A build. */
export interface Build {
  readonly version: string;
  /** The lines of `SHA256SUMS`, by path. */
  readonly sums: string;
}

/** @param out an empty folder for the files */
export async function build(commit: string, out: string): Promise<Build> {
  const work = await Deno.makeTempDir({ prefix: "release-" });
  try {
    const source = `${work}/source`;
    await Deno.mkdir(source);
    await run(["git", "archive", "--output", `${work}/source.tar`, commit], ROOT);
    await run(["tar", "-xf", `${work}/source.tar`, "-C", source], work);
    const released = await releasedFrom(
      source,
      Number(await run(["git", "log", "-1", "--format=%ct", commit], ROOT)),
    );
    const name = `${released.name}-${released.version}`;
    await run(
      ["git", "archive", `--prefix=${name}/`, "--output", `${work}/${name}-source.tar`, commit],
      ROOT,
    );
    await compress(`${work}/${name}-source.tar`, `${out}/${name}-source.tar.gz`);
    await writeBundle(source, work, `${out}/${name}-bundle.tar.gz`, released.time);
    await writePackages(source, out);
    await Deno.writeTextFile(`${out}/sbom.cdx.json`, await bill(source, released));
    for (const [from, to] of Object.entries(AS_THEY_ARE)) {
      if (await exists(`${source}/${from}`)) {
        await run(["cp", "-R", `${source}/${from}`, `${out}/${to}`], work);
      }
    }
    const sums = await sumsOf(out);
    await Deno.writeTextFile(`${out}/SHA256SUMS`, sums);
    return { version: released.version, sums };
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** The version stands in deno.json and nowhere else. */
async function releasedFrom(source: string, time: number): Promise<Released> {
  const { version, license } = await json<{ version: string; license: string }>(`${source}/deno.json`);
  return { name: "payment-platform", version, license, time };
}

/** The program for Node and Bun, with the lock that says what it contains. */
async function writeBundle(source: string, work: string, file: string, time: number): Promise<void> {
  const folder = `${work}/bundle`;
  await Deno.mkdir(folder);
  await run([Deno.execPath(), "task", "--quiet", "bundle"], source);
  const program = await Deno.readTextFile(`${source}/.data/bundle/platform.js`);
  // Labels of modules name the folder where this computer keeps packages.
  await Deno.writeTextFile(
    `${folder}/platform.js`,
    program.replaceAll(/[^\s"']*\/registry\.npmjs\.org\//g, "npm:"),
  );
  for (const name of ["production.lock", "LICENSE"]) {
    await Deno.copyFile(`${source}/${name}`, `${folder}/${name}`);
  }
  const same = [
    "--sort=name",
    `--mtime=@${time}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u=rw,go=r",
  ];
  const names = ["LICENSE", "platform.js", "production.lock"];
  await run(["tar", ...same, "-cf", `${work}/bundle.tar`, "-C", folder, ...names], work);
  await compress(`${work}/bundle.tar`, file);
}

/** The packages for npm, as `deno task packages` builds them. */
async function writePackages(source: string, out: string): Promise<void> {
  await run([Deno.execPath(), "task", "--quiet", "packages"], source);
  for await (const { name } of Deno.readDir(`${source}/.data/packages`)) {
    if (name.endsWith(".tgz")) await Deno.copyFile(`${source}/.data/packages/${name}`, `${out}/${name}`);
  }
}

async function bill(source: string, released: Released): Promise<string> {
  const locks = await Promise.all(
    ["production.lock", "directory.lock"].map((name) => json<Lock>(`${source}/${name}`)),
  );
  const { packages } = await json<{ packages: Record<string, { version: string; integrity: string }> }>(
    `${source}/packaging/container/package-lock.json`,
  );
  const { "": _, ...runtime } = packages;
  return await billOf(released, locks, runtime);
}

async function sumsOf(folder: string): Promise<string> {
  const listed = await run(["find", ".", "-type", "f", "-printf", "%P\\n"], folder);
  const paths = listed.trim().split("\n").toSorted();
  return await run(["sha256sum", "--", ...paths], folder);
}

/** gzip without the name and the time of the file. */
async function compress(tar: string, file: string): Promise<void> {
  await run(["gzip", "-n", "-9", tar], ".");
  await Deno.rename(`${tar}.gz`, file).catch(() => Deno.copyFile(`${tar}.gz`, file)); // between file systems
}

async function json<T>(path: string): Promise<T> {
  return JSON.parse(await Deno.readTextFile(path)) as T;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

export async function run([program = "", ...args]: readonly string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${text(stderr).trim()}`);
  return text(stdout);
}
