/**
 * A TPP that is a program: it makes one payment, prints the link for its customer, waits at its redirect URL, and says
 * by its exit status how the payment ended.
 */
import { customerOf, type Ended, type Errand, isLink, type Said, type Subject } from "./subject.ts";

/** How the program is started. */
export interface CommandSettings {
  /** A command of the shell. */
  readonly command: string;
  /** Folder with `endpoints.json` and `ca.pem`. */
  readonly sandboxDir: string;
  /** The participant's folder. */
  readonly folder: string;
  readonly authUrl: string;
}

/** The program may take so long for one payment, beside what its customer waits. */
const MAX_MILLISECONDS = 45_000;
const MAX_CHARACTERS = 65_536;

/** Exit status and what it says. Every other status: no payment was made. */
const SAID: Readonly<Record<number, Said>> = { 0: "paid", 3: "rejected", 4: "unknown" };

/** What the program has started ends with it, or with the shell: a helper could keep its output open. */
const GROUP =
  `trap 'trap - TERM; kill 0' TERM; (eval "$TPP_COMMAND") & wait $!; ended=$?; trap '' TERM; kill 0; exit $ended`;

/** A TPP that is started anew for each payment. */
export function commandSubject(settings: CommandSettings): Subject {
  return { pay: (errand) => run(settings, errand) };
}

async function run(settings: CommandSettings, errand: Errand): Promise<Ended> {
  const child = new Deno.Command("sh", {
    args: ["-c", GROUP],
    env: {
      SANDBOX_DIR: settings.sandboxDir,
      TPP_FOLDER: settings.folder,
      BANK_CODE: errand.bank,
      TPP_COMMAND: settings.command,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
  const timer = setTimeout(() => child.kill("SIGTERM"), MAX_MILLISECONDS + (errand.waits ?? 0));
  const errors = readText(child.stderr);
  let link: URL | undefined;
  const gone = new AbortController();
  let visit: Promise<unknown> | undefined; // its error: the program has not ended yet
  let beginsAgain = false;
  const printed = readText(child.stdout, (text) => {
    const [line, another] = text.split("\n").slice(0, -1).filter((each) => isLink(each, settings.authUrl));
    if (another !== undefined && !beginsAgain) {
      beginsAgain = true;
      child.kill("SIGTERM"); // it waits for its customer
    }
    if (link !== undefined || line === undefined) return;
    link = new URL(line);
    visit = arrive(errand, link, gone.signal).catch((error: unknown) => error);
  });
  const { code, signal } = await child.status;
  clearTimeout(timer);
  gone.abort();
  const [words, output] = [lastLine(await errors), lastLine(await printed)];
  const lost = await visit;
  if (lost instanceof Error) throw new Error(`The customer did not come back: ${lost.message}`);
  const said = signal === null ? SAID[code] ?? "failed" : "none";
  if (beginsAgain) return { said, link, beginsAgain, words: "it printed another link" };
  if (said === "none") return { said, link, words: `it did not end within ${MAX_MILLISECONDS / 1000} s` };
  return { said, link, words: words || output };
}

/** Opens the addresses at the TPP, until it answers or has ended. It may listen a moment after it printed the link. */
async function arrive(errand: Errand, link: URL, signal: AbortSignal): Promise<void> {
  const addresses = await customerOf(errand, link);
  await Promise.all(addresses.map(async (url) => {
    while (!signal.aborted) {
      const answer = await fetch(url, { redirect: "manual", signal }).catch(() => undefined);
      await answer?.body?.cancel().catch(() => {});
      if (answer !== undefined) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }));
}

async function readText(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  progress: (text: string) => void = () => {},
): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text = (text + part).slice(-MAX_CHARACTERS);
    progress(text);
  }
  return text;
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
