/** Onboards the bank under test at the certifier's directory, and starts it or waits until it was started. */
import { z } from "zod";
import { onboard } from "../../participant/commands.ts";
import { openDirectoryClient } from "../../participant/directory.ts";
import { readDescription } from "../../participant/folder.ts";
import { openHook } from "./hook.ts";
import type { PlatformSide } from "./platform_side.ts";

/** How long a bank has to start and register, milliseconds. */
const START_MS = 60_000;
/** How long a person has to start the bank, milliseconds. */
const WAIT_MS = 900_000;

const detailsSchema = z.looseObject({ role: z.literal("ASPSP") });

/**
 * Onboards the bank unless it is known already.
 *
 * @param details path of the JSON file, as for `deno task participant onboard`
 * @throws {Error} in one sentence if the file or the directory rejects it
 */
export async function onboardBank(
  { dir, endpoints }: Pick<PlatformSide, "dir" | "endpoints">,
  { name, details, print }: {
    readonly name: string;
    readonly details: string;
    readonly print: (line: string) => void;
  },
): Promise<{ readonly folder: string; readonly redirectUri: string }> {
  const folder = `${dir}/participants/${name}`;
  if (await readDescription(folder) === undefined) {
    const access = { directoryUrl: endpoints.directory_url, adminToken: endpoints.directory_admin_token };
    const directory = await openDirectoryClient(access, {});
    const tools = { directory, folderOf: () => folder, print };
    await onboard(tools, { name, details: await readDetails(details), encryption: true });
  }
  const [redirectUri] = (await readDescription(folder))?.redirect_uris ?? [];
  if (redirectUri === undefined) throw new Error("The bank has no redirect URL.");
  return { folder, redirectUri };
}

async function readDetails(path: string): Promise<unknown> {
  const text = await Deno.readTextFile(path);
  try {
    return detailsSchema.parse(JSON.parse(text));
  } catch {
    throw new Error(`The file ${path} is not a JSON object with the role ASPSP.`);
  }
}

/** A bank that serves. */
export interface StartedBank {
  stop(): Promise<void>;
}

/**
 * Starts the bank by a command line, or asks for it, and waits until its hook answers.
 *
 * @throws {Error} in one sentence if the hook does not answer in time, or another program serves it
 */
export async function startBank(
  { dir, folder, hookUrl, command, print }: {
    readonly dir: string;
    readonly folder: string;
    readonly hookUrl: string;
    readonly command: string | undefined;
    readonly print: (line: string) => void;
  },
): Promise<StartedBank> {
  if (command === undefined) {
    print(`Start the bank: its folder is ${folder}, the platform's addresses are in ${dir}/endpoints.json,`);
    print(`and it must serve the hook at ${hookUrl} (docs/bank.md).`);
    await answering(hookUrl, WAIT_MS);
    return { stop: () => Promise.resolve() };
  }
  if (await openHook(hookUrl).accounts().then(() => true, () => false)) {
    throw new Error(
      `The hook at ${hookUrl} answers before the bank is started: stop the program that serves it.`,
    );
  }
  const env = { SANDBOX_DIR: dir, PARTICIPANT: folder, CERTIFICATION_HOOK: hookUrl };
  // exec, so that the signal at the end reaches the bank and not its shell; env takes variables before the command
  const args = ["-c", `exec env ${command}`];
  const child = new Deno.Command("sh", { args, env, stdin: "null", stdout: "null", stderr: "inherit" })
    .spawn();
  const stop = async (): Promise<void> => {
    try {
      child.kill();
    } catch {
      // it has ended
    }
    await child.status;
  };
  const ended = child.status.then(({ code }) => {
    throw new Error(`The bank ended with status ${code} before its hook answered.`);
  });
  ended.catch(() => {}); // also when it ends later
  await Promise.race([answering(hookUrl, START_MS), ended]).catch(async (error) => {
    await stop();
    throw error;
  });
  return { stop };
}

async function answering(hookUrl: string, timeoutMs: number): Promise<void> {
  const hook = openHook(hookUrl);
  const end = Date.now() + timeoutMs;
  while (true) {
    const why = await hook.accounts().then(() => undefined, describeWithCause);
    if (why === undefined) return;
    if (Date.now() > end) throw new Error(`The hook at ${hookUrl} did not answer: ${why}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** An error with its cause, such as a certificate that is not trusted. */
function describeWithCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
