/** `deno task tail`: prints each request that the running sandbox rejects, with what was wrong, until Ctrl-C. */
import { z } from "zod";
import { runPlain } from "../../command_line/run.ts";
import { sandboxFolder } from "../participant/directory.ts";
import { followRejections } from "./tail.ts";

const endpointsSchema = z.looseObject({
  auth_url: z.string(),
  operations_url: z.string(),
  directory_admin_token: z.string(),
});

const USAGE = `deno task tail

  Prints each request that the running sandbox (SANDBOX_DIR, default .data/sandbox) rejects, with what was wrong, until
  Ctrl-C.`;

await runPlain(USAGE, async (print) => {
  const dir = sandboxFolder(Deno.env.toObject());
  const text = await Deno.readTextFile(`${dir}/endpoints.json`).catch(() => {
    throw new Error(`No sandbox runs with the folder ${dir}. Start one: npx -y deno@2.9.6 task start`);
  });
  const { auth_url: authUrl, operations_url: url, directory_admin_token: token } = endpointsSchema.parse(
    JSON.parse(text),
  );
  const stopped = new AbortController();
  Deno.addSignalListener("SIGINT", () => stopped.abort());
  print("Rejected requests of the sandbox, until Ctrl-C:");
  await followRejections(
    `${dir}/sandbox.log`,
    { fetch, operator: { url, token }, authUrl, print },
    stopped.signal,
  );
});
