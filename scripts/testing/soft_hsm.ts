/** A token of SoftHSM 2 and the signer in front of it, for tests and the prover. A computer without SoftHSM 2 skips the tests that use it. */
import { createPrivateKey } from "node:crypto";
import { areInstalled } from "./installed.ts";
import { platformKeySet } from "./platform_keys.ts";
import { type ServedPlatform, startCommand, taskCommand } from "./served_platform.ts";

const MODULE = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so"].find((path) =>
  areInstalled(path)
);

if (MODULE === undefined) {
  const words =
    "\n*** SKIPPED: nothing was checked with keys in a token, SoftHSM 2 (softhsm2) is missing ***\n\n";
  Deno.stdout.writeSync(new TextEncoder().encode(words));
}

/** Whether this computer lacks SoftHSM 2, for the `ignore` of a test. */
export const isSoftHsmMissing = MODULE === undefined;

const LABEL = "platform";
const PIN = "739154";

/** A token in a folder of its own, with what `deno task signer` needs. */
export class SoftHsm implements AsyncDisposable {
  readonly #started: ServedPlatform[] = [];
  private constructor(readonly folder: string) {}

  readonly pin = PIN;
  readonly module = MODULE ?? "";
  get socket(): string {
    return `${this.folder}/run/signer.sock`;
  }
  get file(): string {
    return `${this.folder}/platform-keys.json`;
  }
  get pinFile(): string {
    return `${this.folder}/pin`;
  }
  get environment(): { readonly SOFTHSM2_CONF: string } {
    return { SOFTHSM2_CONF: `${this.folder}/softhsm2.conf` };
  }

  /** Makes an empty token. */
  static async open(): Promise<SoftHsm> {
    const hsm = new SoftHsm(await Deno.makeTempDir({ prefix: "hsm-" }));
    await Deno.mkdir(`${hsm.folder}/tokens`);
    await Deno.mkdir(`${hsm.folder}/run`, { mode: 0o700 });
    await Deno.writeTextFile(`${hsm.folder}/softhsm2.conf`, `directories.tokendir = ${hsm.folder}/tokens\n`);
    await Deno.writeTextFile(hsm.pinFile, `${PIN}\n`, { mode: 0o600 });
    const initToken = ["--init-token", "--free", "--label", LABEL, "--pin", PIN, "--so-pin", PIN];
    await hsm.command("softhsm2-util", initToken);
    return hsm;
  }

  /** Puts the keys of a key file into the token, and their public members into a file of its own. */
  async importKeys(keySet?: string): Promise<void> {
    const { keys } = JSON.parse(keySet ?? await platformKeySet()) as { readonly keys: readonly JsonWebKey[] };
    const publicKeys: JsonWebKey[] = [];
    for (const key of keys) {
      const { d, p, q, dp, dq, qi, ...members } = key;
      const own = { kty: "RSA", n: key.n, e: key.e, d, p, q, dp, dq, qi };
      const pem = createPrivateKey({ key: own, format: "jwk" }).export({ type: "pkcs8", format: "pem" });
      const [path, at] = [`${this.folder}/key.pem`, publicKeys.length];
      await Deno.writeTextFile(path, String(pem));
      const names = ["--token", LABEL, "--label", `imported ${at}`, "--id", `A${at}`, "--pin", PIN];
      await this.command("softhsm2-util", ["--import", path, ...names]);
      await Deno.remove(path);
      publicKeys.push(members);
    }
    await Deno.writeTextFile(this.file, JSON.stringify({ keys: publicKeys }));
  }

  /** Puts a wrapping key into the token. @param raw 32 bytes in base64, none of them 0: softhsm2-util would end there */
  async importWrappingKey(id: string, raw: string): Promise<void> {
    const path = `${this.folder}/wrapping.raw`;
    await Deno.writeFile(path, Uint8Array.fromBase64(raw));
    const names = ["--token", LABEL, "--label", `wrapping ${id}`, "--id", "B0", "--pin", PIN];
    await this.command("softhsm2-util", ["--import", path, "--aes", ...names]);
    await Deno.remove(path);
  }

  /** Runs a command of `deno task signer` to its end. Returns its output; throws what it writes to standard error. */
  async run(verb: string, ...args: readonly string[]): Promise<string> {
    const [program = "", ...words] = [...await taskCommand("signer"), verb, ...this.#options(verb), ...args];
    return await this.command(program, words);
  }

  /** Runs a program with the token. */
  async command(program: string, args: readonly string[]): Promise<string> {
    const command = new Deno.Command(program, { args: [...args], env: this.environment, cwd: this.folder });
    const { success, stdout, stderr } = await command.output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  }

  /** Starts `deno task signer serve`. */
  async serve(): Promise<ServedPlatform> {
    const args = ["serve", "--socket", this.socket, ...this.#options("serve")];
    const started = startCommand(
      [...await taskCommand("signer"), ...args],
      this.folder,
      this.environment,
      "signer.listening",
    );
    this.#started.push(started);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#started) process.kill("SIGKILL");
    await Promise.all(this.#started.map(({ ended }) => ended));
    await Deno.remove(this.folder, { recursive: true });
  }

  #options(command: string | undefined): string[] {
    const file = command === "wrapping-key" || command === "authority" ? [] : ["--file", this.file];
    return ["--module", this.module, "--token", `${LABEL}=${this.pinFile}`, ...file];
  }
}
