/** Runs the platform on Node or Bun instead of Deno: `PLATFORM_RUNTIME` names the runtime's program. */

const root = new URL("../../", import.meta.url).pathname;

/** The bundle of `deno task bundle`. */
const BUNDLE = `${root}.data/bundle/platform.js`;

/** The command that runs the platform on another runtime, and what its variables are there. */
export interface OtherRuntime {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Returns undefined on Deno. @param env the variables of a platform on Deno */
export function otherRuntime(
  env: Readonly<Record<string, string>>,
  program: string | undefined = Deno.env.get("PLATFORM_RUNTIME"),
): OtherRuntime | undefined {
  if (program === undefined || program === "") return undefined;
  const { DENO_CERT, STORE_URL, ...same } = env;
  return {
    command: [program, BUNDLE, "--listen"],
    env: {
      ...same,
      ...(STORE_URL === undefined ? {} : { STORE_URL: STORE_URL.replace(/\.kv$/, ".sqlite") }),
      ...(DENO_CERT === undefined ? {} : { NODE_EXTRA_CA_CERTS: DENO_CERT }),
      NODE_USE_ENV_PROXY: "1", // Node ignores HTTPS_PROXY otherwise; Bun does not
    },
  };
}
