/**
 * `deno task mistakes`: makes mistakes of TPP and bank developers against a platform in this process, and checks that each
 * answer names the faulty part and the expected value. Prints the score and every miss. Exit status 1 below 95 %.
 */
import { openEnvironment } from "../testing/environment.ts";
import { AREAS } from "./areas.ts";
import { isEnough, makeMistakes, scoreText } from "./run.ts";
import { openWorkbench } from "./workbench.ts";

await using env = await openEnvironment();
const score = await makeMistakes(openWorkbench(env), AREAS);
Deno.stdout.writeSync(new TextEncoder().encode(`${scoreText(score)}\n`));
if (!isEnough(score)) Deno.exitCode = 1;
