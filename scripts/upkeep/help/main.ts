/** `deno task help`: the tasks by reader, without their permissions. */
import { TASK_GROUPS } from "./task_groups.ts";

interface Task {
  readonly description?: string;
}

const { tasks } = JSON.parse(await Deno.readTextFile("deno.json")) as {
  readonly tasks: Readonly<Record<string, string | Task>>;
};
const width = Math.max(...Object.values(TASK_GROUPS).flat().map(({ length }) => length));
const lines = Object.entries(TASK_GROUPS).flatMap(([reader, names]) => [
  `\n${reader}`,
  ...names.map((name) => {
    const task = tasks[name];
    const description = typeof task === "object" ? task.description ?? "" : "";
    return `  ${name.padEnd(width)}  ${description}`;
  }),
]);
const words = "Run a task with: npx -y deno@2.9.6 task NAME, or deno task NAME";
await Deno.stdout.write(new TextEncoder().encode(`${words}\n${lines.join("\n")}\n`));
