/** A part of `deno task check`: the client library's exported types are written, so that its package can be built. */
import { clientDeclarations } from "./client_package.ts";
import { readProject } from "./package_files.ts";

await clientDeclarations(await readProject());
