/**
 * `deno task mistakes`: makes mistakes of TPP and bank developers against the running sandbox, or one of its own, and
 * checks that each answer or trace names the faulty part and the expected value. Prints the score and every miss. Exit
 * status 1 below 95 %.
 */
import { runPlain } from "../../command_line/run.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import { openSandbox } from "../../command_line/sandbox.ts";
import { AREAS } from "./areas.ts";
import { isEnough, makeMistakes, scoreText } from "./run.ts";
import { openSandboxEnvironment } from "./sandbox.ts";
import { openWorkbench } from "./workbench.ts";

const USAGE = `deno task mistakes

  Makes mistakes of TPP and bank developers against the running sandbox (SANDBOX_DIR, default .data/sandbox), or against
  one of its own, and prints the score and every miss. Exit status: 0 from 95 % on, 1 below.`;

await runPlain(USAGE, async (print) => {
  const sandbox = await openSandbox(sandboxFolder({ SANDBOX_DIR: Deno.env.get("SANDBOX_DIR") }), print);
  try {
    using env = await openSandboxEnvironment(sandbox);
    const score = await makeMistakes(openWorkbench(env, env.armBank), AREAS);
    print(scoreText(score));
    return isEnough(score);
  } finally {
    await sandbox.close();
  }
});
