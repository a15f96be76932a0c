/**
 * Runs the guides' code blocks as a reader would: from the Markdown that the platform serves into a shell, with only the
 * placeholders changed. At the end, blocks that no test has run can be listed.
 */
import { assertEquals } from "@std/assert";

/**
 * Returns whether the programs that the blocks use are installed. Prints a warning if not, because no block is run
 * then.
 */
export function areToolsThere(): boolean {
  const missing = ["bash", "curl", "sed", "sha256sum"].filter((tool) => {
    const found = new Deno.Command("which", { args: [tool], stdout: "null", stderr: "null" }).outputSync();
    return !found.success;
  });
  if (missing.length === 0) return true;
  saySkipped(`the guides were not followed, there is no ${missing.join(", no ")}`);
  return false;
}

/** Prints what was not tested, and why. */
export function saySkipped(what: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`\n*** SKIPPED: ${what} ***\n\n`));
}

/** The code blocks of one page. */
export interface Snippets {
  /** The block under this heading's anchor with this caption, its placeholders filled. */
  take(section: string, about: string): string;
  /** `section: caption` of the blocks that were never run. */
  untried(): readonly string[];
}

/** The value of each placeholder, applied in order. */
export type Placeholders = readonly (readonly [placeholder: RegExp, value: string])[];

/** Reads the Markdown of a guide. */
export async function readSnippets(url: string, placeholders: () => Placeholders): Promise<Snippets> {
  const response = await fetch(url);
  const markdown = await response.text();
  assertEquals(response.status, 200, url);
  const blocks = captionedBlocks(markdown);
  const taken = new Set<string>();
  return {
    take(section, about) {
      const name = `${section}: ${about}`;
      const code = blocks.get(name);
      if (code === undefined) {
        throw new Error(`${url} has no block ${name}; it has ${[...blocks.keys()].join("; ")}`);
      }
      taken.add(name);
      return filled(code, placeholders());
    },
    untried: () => [...blocks.keys()].filter((name) => !taken.has(name)),
  };
}

/** The code blocks that have a caption after their language, by `section: caption`. */
export function captionedBlocks(markdown: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>();
  let section = "";
  for (
    const [, heading, caption, code = ""] of markdown.matchAll(
      /^#+ ([^\n]+)$|^```\w+ ([^\n]+)\n(.*?)\n```$|^```[^\n]*\n.*?^```$/gms,
    )
  ) {
    if (heading !== undefined) section = anchorOf(heading);
    else if (caption !== undefined) blocks.set(`${section}: ${caption}`, code);
  }
  return blocks;
}

/** GitHub's anchor of a heading. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
}

/** The block with its placeholders filled. */
export function filled(code: string, placeholders: Placeholders): string {
  return placeholders.reduce((text, [placeholder, value]) => text.replaceAll(placeholder, () => value), code);
}

/** A shell in a folder. */
export interface Shell {
  readonly cwd: string;
  /** The reader's variables. */
  readonly env: Record<string, string>;
}

/** Output of a command, and the status of its last HTTP response. */
export interface Printed {
  readonly text: string;
  readonly status: number;
}

/** Runs the block unchanged. @throws {Error} with its output if it fails */
export async function run({ cwd, env }: Shell, code: string): Promise<Printed> {
  const home = await curlHome();
  const command = new Deno.Command("bash", {
    args: ["-eu", "-o", "pipefail", "-c", code],
    cwd,
    env: { ...env, CURL_HOME: home, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  });
  const { code: exit, stdout, stderr } = await command.output();
  const [text, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (exit !== 0) throw new Error(`${code}\nended with ${exit}: ${text}${errors}`);
  return { text: text ?? "", status: Number(/HTTP status (\d{3})\s*$/.exec(errors ?? "")?.[1] ?? 0) };
}

/** As {@link run}, for a request; returns its JSON. @throws {Error} with the response unless it has this status */
export async function request<T>(shell: Shell, code: string, status: number): Promise<T> {
  const printed = await run(shell, code);
  if (printed.status !== status) throw new Error(`${code}\nanswered ${printed.status}: ${printed.text}`);
  return JSON.parse(printed.text) as T;
}

let home: Promise<string> | undefined;

/** A curl configuration that prints what the tests check; the blocks stay unchanged. */
function curlHome(): Promise<string> {
  home ??= (async (): Promise<string> => {
    const dir = await Deno.makeTempDir();
    const settings =
      'silent\nshow-error\nmax-time = 20\nwrite-out = "%{stderr}HTTP status %{http_code}\\n"\n';
    await Deno.writeTextFile(`${dir}/.curlrc`, settings);
    return dir;
  })();
  return home;
}

const AsyncFunction: new (...parts: string[]) => (...values: unknown[]) => Promise<unknown> =
  Object.getPrototypeOf(async () => {}).constructor;

/** Runs a block of JavaScript with these variables; returns its `result`. */
export async function evaluate(
  code: string,
  names: Readonly<Record<string, unknown>>,
  result: string,
): Promise<string> {
  return String(
    await new AsyncFunction(...Object.keys(names), `${code}\nreturn ${result};`)(...Object.values(names)),
  );
}
