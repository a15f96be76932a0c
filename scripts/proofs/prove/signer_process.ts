/** The signer of a proved cluster: the platform's keys leave their file for a token of SoftHSM 2. */
import { isSoftHsmMissing, SoftHsm } from "../../testing/soft_hsm.ts";
import { UsageError } from "../../command_line/run.ts";

export interface ProvedSigner extends AsyncDisposable {
  /** Kills the signer, which a supervisor starts again. */
  readonly killAndRestart: () => Promise<void>;
}

/**
 * Moves the keys of `PLATFORM_KEYS` into a token, removes the file, and changes the variable to the signer's socket. The
 * key that wraps is a new one of the token; the former one unwraps.
 */
export async function startProvedSigner(env: Record<string, string>): Promise<ProvedSigner> {
  if (isSoftHsmMissing) throw new UsageError("--keys token needs SoftHSM 2 (softhsm2)");
  const hsm = await SoftHsm.open();
  const file = env["PLATFORM_KEYS"] ?? "";
  await hsm.importKeys(await Deno.readTextFile(file));
  await Deno.remove(file);
  env["PLATFORM_KEYS"] = `signer:${hsm.socket}`;
  await hsm.run("wrapping-key", "proved");
  const wrappingFile = env["PLATFORM_WRAPPING_KEYS"] ?? "";
  await Deno.writeTextFile(wrappingFile, `proved token\n${await Deno.readTextFile(wrappingFile)}`);
  let process = await hsm.serve();
  await process.ready;
  let restarting = Promise.resolve();
  const restart = async (): Promise<void> => {
    process.kill("SIGKILL");
    await process.ended;
    process = await hsm.serve();
    await process.ready;
  };
  return {
    killAndRestart: () => restarting = restarting.then(restart),
    [Symbol.asyncDispose]: () => hsm[Symbol.asyncDispose](),
  };
}
