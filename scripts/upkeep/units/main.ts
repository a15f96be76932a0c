/** Writes the `ExecStart` lines of the units in docs/operations, from the tasks in `deno.json`. */
import { ROOT } from "../sources/source_files.ts";
import { execStart, SERVICES, withExecStart } from "./exec_start.ts";

interface Tasks {
  readonly tasks: Readonly<Record<string, { readonly command: string }>>;
}

if (import.meta.main) {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)) as Tasks;
  for (const { task, page, flags } of SERVICES) {
    const line = execStart(tasks[task]?.command ?? "", flags);
    await Deno.writeTextFile(ROOT + page, withExecStart(await Deno.readTextFile(ROOT + page), line));
  }
}
