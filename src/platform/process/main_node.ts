/**
 * Entry for Node and Bun: the bundle of this file runs behind the same proxy and with the same configuration as
 * `deno task serve`, on PostgreSQL or a file of `node:sqlite` (docs/operations/runtimes.md).
 */
import { write } from "node:fs";
import process from "node:process";
import { promisify } from "node:util";
import { exitStatusOf } from "../../base/kernel/command_line_fault.ts";
import { nodeFetch } from "../../base/http/node_fetch.ts";
import { openNodeListener } from "../../base/http/node_listener.ts";
import { giveUpOnNode } from "../../base/http/node_permissions.ts";
import { openStore } from "../../base/store/open_store.ts";
import type { Runtime } from "./runtime.ts";
import { checkPlatform } from "./check.ts";
import { serve } from "./serve.ts";
import { readServedPart } from "./served_part.ts";

const STANDARD_OUTPUT = 1;
const writeSome = promisify(write);

const runtime: Runtime = {
  openListener: openNodeListener,
  openStore,
  write: async (bytes) => (await writeSome(STANDARD_OUTPUT, bytes)).bytesWritten,
  fetch: nodeFetch,
  mayRead: () => Promise.resolve(true),
  giveUpPermissions: (keepWriting) => Promise.resolve(giveUpOnNode(process, keepWriting)),
};

try {
  const part = readServedPart(process.argv.slice(2));
  if (process.argv.includes("--check")) process.exit(await checkPlatform(runtime) ? 0 : 1);
  await serve(runtime, part);
  process.exit(0); // a write that the reader does not take would keep the process
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = exitStatusOf(error);
}
