/**
 * `deno task release`: builds a commit twice, compares both builds, and leaves one in .data/release/VERSION with its
 * checksums and a signature over them (docs/operations/upgrade.md#verify-a-release). Publishes nothing.
 */
import { optionsOf, runProgram, UsageError } from "../../command_line/run.ts";
import { ROOT } from "../sources/source_files.ts";
import { build, run } from "./build.ts";
import { readSecret } from "../../command_line/secret_environment.ts";

/** @param path of a private key in PEM, as `openssl genpkey -algorithm ed25519` makes it. @throws {Error} in one sentence */
async function openReleaseKey(path: string): Promise<CryptoKey> {
  const pem = await readSecret(path).catch((error) => {
    throw new Error(`--key: ${error.message}`);
  });
  const [, text = ""] = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(pem) ??
    [];
  try {
    return await crypto.subtle.importKey("pkcs8", Uint8Array.fromBase64(text), "Ed25519", false, ["sign"]);
  } catch {
    throw new Error(`--key: ${path} is not an Ed25519 key in PEM (openssl genpkey -algorithm ed25519)`);
  }
}

/** Writes `SHA256SUMS.sig` into the folder of a release. */
async function signSums(folder: string, key: CryptoKey): Promise<void> {
  const signature = await crypto.subtle.sign("Ed25519", key, await Deno.readFile(`${folder}/SHA256SUMS`));
  await Deno.writeFile(`${folder}/SHA256SUMS.sig`, new Uint8Array(signature));
}

const USAGE = `deno task release --key FILE [--commit REVISION] [--tag TAG] [--out FOLDER]
  --key FILE         Ed25519 private key in PEM: openssl genpkey -algorithm ed25519
  --commit REVISION  what is released; HEAD by default
  --tag TAG          must be v and the version of deno.json
  --out FOLDER       .data/release by default; the release is a new folder in it`;

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) => {
    const options = optionsOf(args, ["key", "commit", "tag", "out"]);
    if (options.key === undefined) throw new UsageError(`--key is missing.\n${USAGE}`);
    print(await release({ commit: "HEAD", out: `${ROOT}.data/release`, ...options, key: options.key }));
  });
}

/** @returns the folder @throws {Error} if the two builds differ, or the release exists */
export async function release({ key: keyFile, commit, tag, out }: {
  readonly key: string;
  readonly commit: string;
  readonly tag?: string;
  readonly out: string;
}): Promise<string> {
  const key = await openReleaseKey(keyFile);
  await Deno.mkdir(out, { recursive: true });
  const [first, second] = await Promise.all(
    [1, 2].map(() => Deno.makeTempDir({ dir: out, prefix: ".build-" })),
  );
  try {
    const [one, other] = [await build(commit, first ?? ""), await build(commit, second ?? "")];
    if (one.sums !== other.sums) {
      throw new Error(`two builds of ${commit} differ:\n${difference(one.sums, other.sums)}`);
    }
    if (tag !== undefined && tag !== `v${one.version}`) {
      throw new Error(
        `--tag: the version in deno.json is ${one.version}, so the tag must be v${one.version}`,
      );
    }
    await signSums(first ?? "", key);
    await run(["chmod", "-R", "u=rwX,go=rX", first ?? ""], out); // whatever the umask, which is for the key
    const folder = `${out}/${one.version}`;
    if (await Deno.stat(folder).catch(() => undefined) !== undefined) {
      throw new Error(`${folder} exists; remove it first`);
    }
    await Deno.rename(first ?? "", folder);
    return folder;
  } finally {
    for (const folder of [first ?? "", second ?? ""]) {
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    }
  }
}

function difference(one: string, other: string): string {
  const lines = new Set(other.split("\n"));
  return one.split("\n").filter((line) => !lines.has(line)).join("\n");
}
