/**
 * The subjects of `--against`, compared with this source on Deno: a git revision of it, the same source on another runtime,
 * or `oidc-provider`.
 */
import { UsageError } from "../../command_line/run.ts";
import { otherRuntime } from "../../testing/other_runtime.ts";
import { type Started, taskCommand } from "../../testing/served_platform.ts";

/** A platform that is measured. */
export interface Subject extends AsyncDisposable {
  readonly name: string;
  /** Its command in place of this source's on Deno. */
  readonly started?: Started;
  /** Variables that it needs otherwise. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Node's program, if `oidc-provider` runs in the platform's place. */
  readonly peer?: string;
}

/** The variable `PLATFORM_RATE_LIMITS` of a platform with these groups whose requests are not limited. */
export function unlimited(groups: readonly string[]): string {
  return groups.map((group) => `${group}=1000000/1000000`).join();
}

const SOURCE = new URL("../../../", import.meta.url).pathname;

/** This source on Deno. */
export const thisSource: Subject = { name: "this source", [Symbol.asyncDispose]: () => Promise.resolve() };

const PEER = "+oidc-provider";

/**
 * Opens what the option names: a path of a runtime's program, below the root, alone or with `+oidc-provider`, or a git
 * revision. The files of a revision are below `.data` until it is disposed.
 *
 * @throws {UsageError} if there is none of them
 */
export async function openSubject(named: string): Promise<Subject> {
  if (named.endsWith(`/node${PEER}`)) {
    return { ...thisSource, name: "oidc-provider", peer: `${SOURCE}${named.slice(0, -PEER.length)}` };
  }
  return /^\S*\/(?:node|bun)$/.test(named) ? runtime(named) : await revision(named);
}

function runtime(program: string): Subject {
  const started: Started = (_, env) => {
    const runs = otherRuntime(env, program);
    return runs === undefined
      ? []
      : ["env", ...Object.entries(runs.env).map((one) => one.join("=")), ...runs.command];
  };
  return { ...thisSource, name: program.split("/").at(-1) ?? program, started };
}

async function revision(named: string): Promise<Subject> {
  if (!/^[\w.^~/-]{1,100}$/.test(named) || named.startsWith("-")) {
    throw new UsageError(`no git revision: ${named}`);
  }
  const hash = await shell(`git rev-parse --verify --quiet --short=12 '${named}^{commit}'`);
  if (hash === undefined) throw new UsageError(`no runtime's program and no git revision: ${named}`);
  const root = `${SOURCE}.data/against/${hash}-${Deno.pid}/`;
  await shell(`mkdir -p '${root}' && git archive ${hash} | tar -x -C '${root}'`);
  const command = await taskCommand("serve", root);
  const { RATE_GROUPS } = await import(`${root}src/platform/config/rate_policies.ts`);
  return {
    name: hash,
    variables: { PLATFORM_RATE_LIMITS: unlimited(RATE_GROUPS) },
    started: () => command,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

async function shell(command: string): Promise<string | undefined> {
  const { stdout, success } = await new Deno.Command("sh", { args: ["-c", command], cwd: SOURCE }).output();
  return success ? new TextDecoder().decode(stdout).trim() : undefined;
}
