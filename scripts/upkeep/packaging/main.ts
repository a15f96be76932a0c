/** Writes the commands of the units and the images in `packaging`, from the tasks in `deno.json`. */
import { ROOT } from "../sources/source_files.ts";
import { serviceCommand, SERVICES, withCommand } from "./commands.ts";

interface Tasks {
  readonly tasks: Readonly<Record<string, { readonly command: string }>>;
}

if (import.meta.main) {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)) as Tasks;
  for (const service of SERVICES) {
    const { task, file } = service;
    const words = serviceCommand(tasks[task]?.command ?? "", service);
    await Deno.writeTextFile(ROOT + file, withCommand(await Deno.readTextFile(ROOT + file), service, words));
  }
}
