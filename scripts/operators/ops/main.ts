/** `deno task ops`: the operations API from the command line, and the list of operators. */
import { OPERATORS, ROLES } from "../../../src/platform/guards/security/operator_roles.ts";
import { changeCredentials, type ListTools } from "../../command_line/credential_list.ts";
import {
  optionsOf,
  runProgram,
  unknownCommand,
  UsageError,
  wordsAndOptions,
} from "../../command_line/run.ts";
import { type ApiAnswer, callOperations, operationsUrl, reasonOf } from "../operations_api/client.ts";
import { operatorEnvironment } from "../operations_api/environment.ts";
import { type Command, COMMANDS, type Given, type Planned, usageOf } from "./commands.ts";
import type { Reports } from "../../testing/operation_answers.ts";
import { daysOfQuarter, quarterCsv, quarterRows } from "./quarter.ts";
import { formatLines } from "./lines.ts";
import { CLEAR, drawWatch, printable, WATCHED, type Watched } from "./watch.ts";

const USAGE = `deno task ops <command> [--json] [--token-file FILE] [--url URL]

  watch
      The dashboard. On a terminal it is drawn again every 5 seconds until Ctrl-C, elsewhere once.

  quarter QUARTER [--csv]
      What a regulator asks for of a quarter, as 2040-Q1: availability, downtime, times, errors and volumes by bank and day.

${COMMANDS.map(usageOf).join("\n")}

  operator add --name NAME --role ROLE[,ROLE…] [--days DAYS] [--person SUB@HOST] [--file FILE]
      Adds an operator to the file and prints the token, once. The first one makes the file. The token is valid for 90
      days, at most 366. --person: who it is at the OpenID provider.
  operator revoke --name NAME [--file FILE]
      Ends the operator's credential, from the platform's next request on.
  operator list [--file FILE]
      Lists every credential that there ever was, by id, name and roles.

--json prints the answer as JSON on one line. The token is in the file, or in PLATFORM_OPS_TOKEN. --url is the operations
listener, by default http://PLATFORM_OPERATIONS_HOST:PLATFORM_OPERATIONS_PORT. --file: the file that PLATFORM_OPERATORS
names, which is also the default.
Roles: ${ROLES.join(", ")}. Exit status: 0 done, 1 rejected or failed, 2 wrong command line.`;

const COMMON = ["token-file", "url"] as const;
const OPTIONS = {
  names: [...COMMON, ...COMMANDS.flatMap(({ required, optional = [] }) => [...required, ...optional])],
  switches: ["json", ...COMMANDS.flatMap(({ switches = [] }) => switches)],
};

/** Dependencies of the command. */
export interface OpsTools extends ListTools {
  readonly environment: (name: string) => string | undefined;
  readonly readText: (path: string) => Promise<string>;
  readonly fetch: typeof fetch;
  /** Of a terminal: waits, and returns whether to draw again. */
  readonly drawAgain?: () => Promise<boolean>;
}

/**
 * Runs one command line.
 *
 * @throws {UsageError} and errors in one sentence
 */
export async function ops(args: readonly string[], tools: OpsTools): Promise<void> {
  if (args.length === 0) throw new UsageError(USAGE);
  if (args[0] === "operator") return await changeOperators(args.slice(1), tools);
  const { words, given } = wordsAndOptions(args, OPTIONS);
  if (words.join(" ") === "watch") return await watch(given, tools);
  if (words[0] === "quarter") return await quarter(words.slice(1), given, tools);
  const command = COMMANDS.find((one) => isCalled(one, words)) ?? noCommand(words.join(" "));
  const { required, optional = [], switches = [] } = command;
  allowOptions(command.words, given, [...required, ...optional, ...switches]);
  const missing = required.filter((name) => given[name] === undefined);
  if (missing.length > 0) throw new UsageError(`Missing: ${missing.map((name) => `--${name}`).join(", ")}.`);
  const ids = words.slice(words.length - command.ids.length);
  const planned = command.plan(ids, given);
  if (given["csv"] === true) return await table(planned.path, given, tools);
  const answer = await send(planned, given, tools);
  tools.print(
    given["json"] === true ? JSON.stringify(answer) : formatLines(dataOf(answer)).join("\n") || "None.",
  );
}

/** @throws {UsageError} if another option was given than these and the common ones */
function allowOptions(words: string, given: Given, own: readonly string[]): void {
  const allowed: readonly string[] = [...own, ...COMMON, "json"];
  const other = Object.keys(given).find((name) => !allowed.includes(name));
  if (other !== undefined) throw new UsageError(`${words} has no option --${other}.`);
}

async function watch(given: Given, tools: OpsTools): Promise<void> {
  allowOptions("watch", given, []);
  if (given["json"] === true) return tools.print(JSON.stringify(await readWatched(given, tools)));
  const draw = async (): Promise<string> => drawWatch(await readWatched(given, tools)).join("\n");
  if (tools.drawAgain === undefined) return tools.print(await draw());
  do {
    // A platform that does not answer now is what an operator watches for.
    tools.print(`${CLEAR}${await draw().catch(wordsOf)}`);
  } while (await tools.drawAgain());
}

/** @throws {UsageError} if that is what the error is */
function wordsOf(error: Error): string {
  if (error instanceof UsageError) throw error;
  return printable(error.message);
}

async function readWatched(given: Given, tools: OpsTools): Promise<Watched> {
  const answers = await Promise.all(
    Object.entries(WATCHED).map(async ([name, path]) => {
      return [name, dataOf(await send({ method: "GET", path }, given, tools))] as const;
    }),
  );
  const watched: unknown = Object.fromEntries(answers);
  return watched as Watched;
}

async function quarter(words: readonly string[], given: Given, tools: OpsTools): Promise<void> {
  allowOptions("quarter", given, ["csv"]);
  if (words.length !== 1) throw new UsageError("Usage: deno task ops quarter QUARTER [--csv]");
  const days = daysOfQuarter(words[0] ?? "");
  const reports: Reports["Data"]["Report"][number][] = [];
  let after: string | undefined;
  do {
    const query = new URLSearchParams({ ...days, ...(after === undefined ? {} : { after }) });
    const answer = await send({ method: "GET", path: `/reports/banks?${query}` }, given, tools);
    const { Report, After } = (answer as Reports).Data;
    reports.push(...Report);
    after = After;
  } while (after !== undefined);
  const rows = quarterRows(reports);
  tools.print(given["csv"] === true ? quarterCsv(rows).trimEnd() : JSON.stringify(rows));
}

/** @throws {UsageError} that says what was meant */
function noCommand(words: string): never {
  const begun = COMMANDS.find((one) => one.words === words);
  if (begun !== undefined) throw new UsageError(`Usage: deno task ops ${usageOf(begun).trim()}`);
  throw unknownCommand(words, ["watch", "quarter", ...COMMANDS.map((one) => one.words)]);
}

function isCalled({ words, ids }: Command, sent: readonly string[]): boolean {
  const own = words.split(" ");
  return sent.length === own.length + ids.length && own.every((word, index) => sent[index] === word);
}

/** Prints every page of a table, under the head of the first one. */
async function table(path: string, given: Given, tools: OpsTools): Promise<void> {
  let heads = 0;
  for (let next: string | undefined = path; next !== undefined;) {
    const answer = await answerTo({ method: "GET", path: next }, given, tools);
    const lines = formatLines(answer.text).slice(heads);
    if (lines.length > 0) tools.print(lines.join("\n"));
    [heads, next] = [1, answer.next];
  }
}

async function send(planned: Planned, given: Given, tools: OpsTools): Promise<unknown> {
  const { json } = await answerTo(planned, given, tools);
  if (json !== undefined) return json;
  throw new Error("The answer is not JSON: it is not the operations API.");
}

/** @throws {Error} in one sentence if the request was rejected */
async function answerTo(
  { method, path, data }: Planned,
  given: Given,
  tools: OpsTools,
): Promise<ApiAnswer> {
  const operator = {
    url: operationsUrl(tools.environment, typeof given["url"] === "string" ? given["url"] : undefined),
    token: await tokenOf(given["token-file"], tools),
  };
  const answer = await callOperations(tools, operator, path, {
    method,
    ...(data === undefined ? {} : {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ Data: data }),
    }),
  });
  if (answer.ok) return answer;
  throw new Error(`${answer.status}: ${reasonOf(answer)}`);
}

async function tokenOf(
  file: string | boolean | undefined,
  { environment, readText }: OpsTools,
): Promise<string> {
  const token = typeof file === "string" ? (await readText(file)).trim() : environment("PLATFORM_OPS_TOKEN");
  if (token !== undefined && token !== "") return token;
  throw new UsageError("No token: set PLATFORM_OPS_TOKEN, or name its file with --token-file.");
}

function dataOf(answer: unknown): unknown {
  return Object(answer)["Data"] ?? answer;
}

async function changeOperators([verb, ...rest]: readonly string[], tools: OpsTools): Promise<void> {
  if (verb !== "list" && verb !== "add" && verb !== "revoke") {
    throw unknownCommand(`operator ${verb ?? ""}`, ["operator list", "operator add", "operator revoke"]);
  }
  const added = ["file", "name", "role", "days", "person"] as const;
  const names = { list: ["file"], add: added, revoke: ["file", "name"] } as const;
  const values: Partial<Record<typeof added[number], string>> = optionsOf(rest, names[verb]);
  const file = values.file || tools.environment("PLATFORM_OPERATORS") || "";
  if (file === "") throw new UsageError("--file is missing, and PLATFORM_OPERATORS is not set.");
  const roles = [...new Set((values.role ?? "").split(",").filter((role) => role !== ""))];
  if (verb === "add" && (roles.length === 0 || roles.some((role) => !OPERATORS.roles.includes(role)))) {
    throw new UsageError(`--role must be one or more of ${ROLES.join(", ")}, comma separated.`);
  }
  const { name = "", days, person } = values;
  await changeCredentials(OPERATORS, { verb, file, name, roles, days, person }, tools);
}

const WATCH_MS = 5000;

async function drawAgain(): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  return true;
}

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) =>
    await ops(args, {
      environment: await operatorEnvironment(args),
      readText: (path) => Deno.readTextFile(path),
      fetch,
      print,
      now: Date.now(),
      ...(Deno.stdout.isTerminal() ? { drawAgain } : {}),
    }));
}
