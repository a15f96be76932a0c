/**
 * `deno task reconcile`: after a restore, has the platform compare its orders with what each bank holds, bank by bank,
 * until their orders go out again. Talks to the operations API; exits with 0 only if no bank is held any more.
 */
import { z } from "zod";
import { openProgress } from "../../command_line/progress.ts";
import { optionsOf, runProgram, UsageError } from "../../command_line/run.ts";
import {
  type ApiTools,
  callOperations,
  type Operator,
  operatorOf,
  reasonOf,
} from "../operations_api/client.ts";
import { operatorEnvironment } from "../operations_api/environment.ts";

const USAGE = `deno task reconcile [--bank CODE] [--statement FILE | --release REASON] [--url URL]
  Without --bank: every bank whose orders are held. --statement: the bank's signed statement (one page), if the bank
  cannot be asked. --release: releases the bank's orders without a comparison; the reason goes into the history.
  PLATFORM_OPS_TOKEN (an operator's token), PLATFORM_OPERATIONS_HOST and PLATFORM_OPERATIONS_PORT are
  read from the environment or .env.`;

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
/** The answer if the deployment leaves the step to two operators. */
const proposedSchema = z.object({ Data: z.object({ State: z.literal("proposed"), ProposalId: z.string() }) });

/** Dependencies of the command. */
export interface ReconcileTools extends ApiTools {
  readonly readText: (path: string) => Promise<string>;
  readonly print: (line: string) => void;
}

interface Line extends ReconcileTools {
  readonly operator: Operator;
}

/** Runs one command line; true if no bank is held at its end. @throws {UsageError} and errors in one sentence */
export async function reconcile(args: readonly string[], tools: ReconcileTools): Promise<boolean> {
  const { bank, statement, release, url } = optionsOf(args, OPTIONS);
  const line = { ...tools, operator: operatorOf(tools, url) };
  if (bank === undefined) {
    if (statement !== undefined || release !== undefined) throw new UsageError(USAGE);
    await reconcileAll(line, (await holds(line)).map(holdName));
  } else if (release !== undefined) {
    await step(line, `${bank}/release`, release);
  } else if (statement !== undefined) {
    await step(line, `${bank}/reconcile`, await tools.readText(statement));
  } else {
    await reconcileAll(line, [bank]);
  }
  const left = await holds(line);
  tools.print(
    left.length === 0 ? "No bank is held after a restore." : `Still held: ${left.map(holdName).join(", ")}.`,
  );
  return left.length === 0;
}

async function reconcileAll(line: Line, banks: readonly string[]): Promise<void> {
  using progress = openProgress("orders", undefined);
  const above = { ...line, print: (text: string): void => progress.above(() => line.print(text)) };
  let before = 0;
  for (const [at, bank] of banks.entries()) {
    let orders = 0;
    await reconcileBank(
      above,
      bank,
      (compared) => progress.done(before + (orders = compared), at / banks.length),
    );
    before += orders;
  }
}

/** Page after page; one bank's trouble does not stop the others. @param onPage gets the number of orders so far */
async function reconcileBank(line: Line, bank: string, onPage: (orders: number) => void): Promise<void> {
  try {
    for (let page = 0; page < MAX_PAGES; page++) {
      const hold = await step(line, `${bank}/reconcile`, "");
      if (hold?.State !== "comparing") return;
      onPage(hold.Recovered + hold.Updated + hold.Agreed + hold.Disagreement.length);
    }
  } catch (error) {
    line.print(`${bank}: ${error instanceof Error ? error.message : String(error)}`);
    line.print(
      `  Without an answer of the bank: --bank ${bank} --statement FILE with its signed statement, or --release REASON.`,
    );
  }
}

async function holds(line: Line): Promise<readonly Hold[]> {
  const body = await call(line, "");
  return z.object({ Data: z.object({ OrderHold: z.array(holdSchema) }) }).parse(body).Data.OrderHold;
}

/** Prints the result, and returns the hold unless the step waits for a second operator. */
async function step(line: Line, path: string, body: string): Promise<Hold | undefined> {
  const answer = await call(line, `/${path}`, { method: "POST", body });
  const proposed = proposedSchema.safeParse(answer).data;
  if (proposed !== undefined) {
    const id = proposed.Data.ProposalId;
    line.print(
      `${path}: proposed. Another operator approves it: deno task ops proposal approve ${id} --reason …`,
    );
    return undefined;
  }
  const hold = z.object({ Data: holdSchema }).parse(answer).Data;
  say(line, hold);
  return hold;
}

async function call(
  line: Line,
  path: string,
  init: { readonly method?: "POST"; readonly body?: string } = {},
): Promise<unknown> {
  const answer = await callOperations(line, line.operator, `/order-holds${path}`, init);
  if (answer.ok) return answer.json;
  throw new Error(reasonOf(answer));
}

function say({ print }: Line, { BankId, State, Recovered, Updated, Agreed, Disagreement }: Hold): void {
  print(`${BankId}: ${State}; ${Recovered} recovered, ${Updated} updated, ${Agreed} agreed`);
  for (const { DomesticPaymentId, Why } of Disagreement) print(`  ${DomesticPaymentId}: ${Why}`);
}

function holdName({ BankId }: Hold): string {
  return BankId;
}

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) =>
    await reconcile(args, {
      environment: await operatorEnvironment(args),
      readText: (path) => Deno.readTextFile(path),
      fetch,
      print,
    }));
}
