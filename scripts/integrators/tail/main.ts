/** `deno task tail`: prints each request that the running sandbox rejects, with what was wrong, until Ctrl-C. */
import { runPlain } from "../../command_line/run.ts";
import { readSandboxOperator, sandboxFolder } from "../../command_line/sandbox_folder.ts";
import { followRejections } from "./tail.ts";

const USAGE = `deno task tail

  Prints each request that the running sandbox (SANDBOX_DIR, default .data/sandbox) rejects, with what was wrong, until
  Ctrl-C.`;

await runPlain(USAGE, async (print) => {
  const dir = sandboxFolder(Deno.env.toObject());
  const operator = await readSandboxOperator(dir);
  if (operator === undefined) {
    throw new Error(`No sandbox runs with the folder ${dir}. Start one: npx -y deno@2.9.6 task start`);
  }
  const stopped = new AbortController();
  Deno.addSignalListener("SIGINT", () => stopped.abort());
  print("Rejected requests of the sandbox, until Ctrl-C:");
  await followRejections(
    `${dir}/sandbox.log`,
    { fetch, operator, authUrl: operator.authUrl, print },
    stopped.signal,
  );
});
