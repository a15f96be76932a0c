/** Runs a task of deno.json without its network and its shell: `deno task` itself asks the npm registry about every package. */
const { tasks } = JSON.parse(await Deno.readTextFile("/app/deno.json"));
const [name = "help", ...given] = Deno.args;
const [program, run, ...words] = (tasks[name]?.command ?? "").split(" ");
if (program !== "deno" || run !== "run") {
  Deno.stderr.writeSync(
    new TextEncoder().encode(`${name} is not a task of this image; the task help lists the tasks\n`),
  );
  Deno.exit(1);
}
const args = [run, "--cached-only", ...words.filter((word) => word !== "--env-file"), ...given];
const { code } = await new Deno.Command(Deno.execPath(), { args, stdin: "inherit" }).spawn().status;
Deno.exit(code);
