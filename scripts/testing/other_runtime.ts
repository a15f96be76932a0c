/** Runs the platform on Node or Bun instead of Deno: `PLATFORM_RUNTIME` names the runtime's program, below the root. */
import { isPostgresUrl } from "../../src/base/store/postgres/settings.ts";

const root = new URL("../../", import.meta.url).pathname;

/** The bundle of `deno task bundle`. */
const BUNDLE = `${root}.data/bundle/platform.js`;

const named = Deno.env.get("PLATFORM_RUNTIME") ?? "";

/** The path of the other runtime's program; undefined on Deno. */
export const otherProgram = named === "" ? undefined : pathOf(named);

/** Whether the platform runs on another runtime than Deno, for the `ignore` of a test of what only Deno has. */
export const isOnOtherRuntime = otherProgram !== undefined;

/** The command that runs the platform on another runtime, and what its variables are there. */
export interface OtherRuntime {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Returns undefined on Deno. @param env the variables of a platform on Deno @param program below the root */
export function otherRuntime(env: Readonly<Record<string, string>>): OtherRuntime | undefined {
  if (named === "") return undefined;
  const { DENO_CERT, PLATFORM_STORE_URL: STORE_URL, ...same } = env;
  const isConfined = isNode(named) && isPostgresUrl(STORE_URL ?? "");
  return {
    command: [pathOf(named), ...(isConfined ? NODE_PERMISSIONS : []), BUNDLE, "--listen"],
    env: {
      ...same,
      ...(STORE_URL === undefined ? {} : { PLATFORM_STORE_URL: STORE_URL.replace(/\.kv$/, ".sqlite") }),
      ...(DENO_CERT === undefined ? {} : { NODE_EXTRA_CA_CERTS: DENO_CERT }),
      NODE_USE_ENV_PROXY: "1", // Node ignores HTTPS_PROXY otherwise; Bun does not
    },
  };
}

/** With PostgreSQL, as docs/operations/runtimes.md has them. `--allow-net` is an experiment, which Node would report. */
const NODE_PERMISSIONS = [
  "--disable-warning=ExperimentalWarning",
  "--permission",
  "--allow-fs-read=*",
  "--allow-fs-write=*",
  "--allow-net",
];

export function isNode(program: string): boolean {
  return /(^|\/)node$/.test(program);
}

function pathOf(program: string): string {
  return new URL(program, `file://${root}`).pathname;
}
