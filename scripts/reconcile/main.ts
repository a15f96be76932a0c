/**
 * `deno task reconcile`: after a restore, has the platform compare its orders with what each bank holds, bank by bank,
 * until their orders go out again. Talks to the operations API; exits with 0 only if no bank is held any more.
 */
import { z } from "zod";
import { type Options, optionsOf, UsageError } from "../command_line/run.ts";

const USAGE = `deno task reconcile [--bank CODE] [--statement FILE | --release REASON] [--url URL]
  Without --bank: every bank whose orders are held. --statement: the bank's signed statement (one page), if the bank
  cannot be asked. --release: releases the bank's orders without a comparison; the reason goes into the history.
  OPS_TOKEN (an operator's token), OPERATIONS_HOST and OPERATIONS_PORT are read from the environment or .env.`;

const OPTIONS = ["bank", "statement", "release", "url"] as const;
const MAX_PAGES = 100_000;

const holdSchema = z.object({
  BankId: z.string(),
  State: z.enum(["held", "comparing", "released"]),
  Recovered: z.int(),
  Updated: z.int(),
  Agreed: z.int(),
  Disagreement: z.array(z.object({ DomesticPaymentId: z.string(), Why: z.string() })),
});
type Hold = z.infer<typeof holdSchema>;

/** Dependencies of the command. */
export interface ReconcileTools {
  readonly environment: (name: string) => string | undefined;
  readonly readText: (path: string) => Promise<string>;
  readonly fetch: typeof fetch;
  readonly print: (line: string) => void;
}

interface Line extends ReconcileTools {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Runs one command line; true if no bank is held at its end. @throws {UsageError} and errors in one sentence */
export async function reconcile(args: readonly string[], tools: ReconcileTools): Promise<boolean> {
  const options = optionsOf(args, OPTIONS);
  const line = openLine(options, tools);
  const { bank, statement, release } = options;
  if (bank === undefined) {
    if (statement !== undefined || release !== undefined) throw new UsageError(USAGE);
    for (const { BankId } of await holds(line)) await reconcileBank(line, BankId);
  } else if (release !== undefined) {
    say(line, await step(line, `${bank}/release`, release));
  } else if (statement !== undefined) {
    say(line, await step(line, `${bank}/reconcile`, await tools.readText(statement)));
  } else {
    await reconcileBank(line, bank);
  }
  const left = await holds(line);
  tools.print(left.length === 0 ? "No orders are held." : `Still held: ${left.map(nameOf).join(", ")}.`);
  return left.length === 0;
}

function openLine({ url }: Options<typeof OPTIONS[number], never>, tools: ReconcileTools): Line {
  const token = tools.environment("OPS_TOKEN");
  if (token === undefined || token === "") throw new UsageError(`OPS_TOKEN is not set.\n${USAGE}`);
  const host = tools.environment("OPERATIONS_HOST") ?? "127.0.0.1";
  const port = tools.environment("OPERATIONS_PORT") ?? "8081";
  return {
    ...tools,
    url: url ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    headers: { authorization: `Bearer ${token}` },
  };
}

/** Page after page; one bank's trouble does not stop the others. */
async function reconcileBank(line: Line, bank: string): Promise<void> {
  try {
    for (let page = 0; page < MAX_PAGES; page++) {
      const hold = await step(line, `${bank}/reconcile`, "");
      say(line, hold);
      if (hold.State !== "comparing") return;
    }
  } catch (error) {
    line.print(`${bank}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function holds(line: Line): Promise<readonly Hold[]> {
  const body = await call(line, "", { headers: line.headers });
  return z.object({ Data: z.object({ OrderHold: z.array(holdSchema) }) }).parse(body).Data.OrderHold;
}

async function step(line: Line, path: string, body: string): Promise<Hold> {
  const answer = await call(line, `/${path}`, { method: "POST", headers: line.headers, body });
  return z.object({ Data: holdSchema }).parse(answer).Data;
}

async function call({ fetch, url }: Line, path: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(`${url}/operations/order-holds${path}`, init).catch((error: Error) => {
    throw new Error(`the platform at ${url} does not answer: ${error.message}`);
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const said = z.object({ error_description: z.string() }).safeParse(body);
  throw new Error(said.success ? said.data.error_description : `the platform answered ${response.status}`);
}

function say({ print }: Line, { BankId, State, Recovered, Updated, Agreed, Disagreement }: Hold): void {
  print(`${BankId}: ${State}; ${Recovered} recovered, ${Updated} updated, ${Agreed} agreed`);
  for (const { DomesticPaymentId, Why } of Disagreement) print(`  ${DomesticPaymentId}: ${Why}`);
}

function nameOf({ BankId }: Hold): string {
  return BankId;
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  try {
    const done = await reconcile(Deno.args, {
      environment: (name) => Deno.env.get(name),
      readText: (path) => Deno.readTextFile(path),
      fetch,
      print: (text) => void Deno.stdout.writeSync(encoder.encode(`${text}\n`)),
    });
    Deno.exit(done ? 0 : 1);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(encoder.encode(`${words}\n`));
    Deno.exit(error instanceof UsageError ? 2 : 1);
  }
}
