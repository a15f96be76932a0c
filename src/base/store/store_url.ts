/** Which texts name a database: the path of a Deno KV or SQLite file, or a URL of PostgreSQL (decision G10). */
import { isPostgresUrl, readPostgresUrl } from "./postgres/settings.ts";

/** Whether the text is a URL and not a path. */
export function isUrl(storeUrl: string): boolean {
  return storeUrl !== ":memory:" && /^[a-z][a-z0-9+.-]*:/i.test(storeUrl);
}

/**
 * Whether the path names a file of `node:sqlite`. The ending of a path says so, and no URL of its own, because to
 * everything else it is what a Deno KV file is: a file of one process, with further files beside it. The data key store
 * is `<PLATFORM_STORE_URL>.keys`, and a backup is `.partial` until it is marked.
 */
export function isSqlitePath(storeUrl: string): boolean {
  return /\.sqlite(?:\.keys)?(?:\.partial)?$/.test(storeUrl);
}

/** Returns the faults of a URL in a configuration. A path has none here. */
export function storeUrlFaults(storeUrl: string | undefined, environment: string | undefined): string[] {
  if (storeUrl === undefined || !isUrl(storeUrl)) return [];
  if (!isPostgresUrl(storeUrl)) {
    return ["must be the path of a database file, or postgres://…; other URLs are not supported"];
  }
  try {
    const { isVerified } = readPostgresUrl(storeUrl);
    return isVerified || environment === "Sandbox"
      ? []
      : ["sslmode=disable is for the sandbox; use sslmode=verify-full"];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
