/** `deno task coverage`: the files and functions of `src` that one payment and one token request run. */
import { optionsOf, runProgram } from "../../command_line/run.ts";
import { Session } from "node:inspector/promises";
import { authorised } from "../../testing/authorization_flow.ts";
import { openEnvironment } from "../../testing/environment.ts";
import { consentBody, DEBTOR_ACCOUNT, good, pay, requestToken } from "../../testing/flows.ts";

const USAGE = `deno task coverage [--files]

  Prints how many files and functions of src one payment and one token request run.

  --files   also their names`;

/** The functions of each file that ran. A function without a name has an empty one. */
type Coverage = Readonly<Record<string, readonly string[]>>;

/** Each is the second request of its kind, because the first one fills memories that the process keeps. */
export async function requestCoverage(): Promise<Readonly<Record<"payment" | "token", Coverage>>> {
  await using env = await openEnvironment();
  const body = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  const newConsent = () => authorised(env, { body });
  await good(pay(env, await newConsent()), 201);
  const consent = await newConsent();
  const { api } = env;
  const runs: Coverage[] = [];
  env.api = (request, as) => withCoverage(runs, () => api(request, as));
  await good(pay(env, consent), 201);
  await good(requestToken(env, env.tpp), 200);
  const [payment = {}, token = {}] = runs;
  return { payment, token };
}

async function withCoverage<T>(runs: Coverage[], run: () => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true });
  const answer = await run();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const source = new URL("../../../src/", import.meta.url).href;
  const files = result.filter(({ url }) => url.startsWith(source)).map(({ url, functions }) => {
    const names = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map((one) =>
      one.functionName
    );
    return [url.slice(source.length), names] as const;
  });
  runs.push(Object.fromEntries(files.filter(([, names]) => names.length > 0).toSorted()));
  return answer;
}

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) => {
    const { files: named } = optionsOf(args, [], ["files"]);
    for (const [request, files] of Object.entries(await requestCoverage())) {
      const functions = Object.values(files).flat().length;
      print(`${request}: ${Object.keys(files).length} files, ${functions} functions`);
      if (!named) continue;
      for (const [file, names] of Object.entries(files)) print(`  ${file}: ${names.join(", ")}`);
    }
  });
}
