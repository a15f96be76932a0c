/**
 * `deno task demo`: one payment end to end over HTTP (Decision F4). Reads the options, finds or starts a
 * sandbox, prints the steps, and says with its exit status whether the payment was accepted.
 */
import { describeFailure } from "../../../src/client/tpp/failure.ts";
import { openTpp } from "../../../src/client/tpp/tpp.ts";
import { printError, printLine } from "../../command_line/print.ts";
import { runProgram } from "../../command_line/run.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import { openSandbox } from "../../command_line/sandbox.ts";
import { disputePayment } from "./dispute.ts";
import { type DemoOptions, readOptions, usage } from "./options.ts";
import { type DemoOutcome, type DemoStep, makePayment } from "./payment.ts";

// Decision F4: 0 only if the payment is accepted.
const exitStatus: Readonly<Record<DemoOutcome["result"], number>> = { accepted: 0, failed: 1, refused: 3 };

type Print = (line: string) => void;

/** Runs the demo and returns its exit status. */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  const print = options.json ? printError : printLine;
  const steps: DemoStep[] = [];
  try {
    const outcome = await run(options, print, (step) => {
      steps.push(step);
      print(`${step.step}  ${step.status ?? "   "}  ${step.text}`);
    });
    print(outcome.summary);
    if (options.json) printLine(JSON.stringify(result(options, outcome, steps), null, 2));
    return exitStatus[outcome.result];
  } catch (error) {
    const summary = `The demo failed after step ${steps.at(-1)?.step ?? 0}: ${describeFailure(error)}`;
    printError(summary);
    if (options.json) printLine(JSON.stringify({ ok: false, summary, steps }, null, 2));
    return 1;
  }
}

async function run(
  options: DemoOptions,
  print: Print,
  report: (step: DemoStep) => void,
): Promise<DemoOutcome> {
  const sandbox = await openSandbox(sandboxFolder({ SANDBOX_DIR: Deno.env.get("SANDBOX_DIR") }), print);
  try {
    print(`Sandbox at ${sandbox.endpoints.base_url}${sandbox.startedHere ? ", started for this demo" : ""}`);
    const tpp = await openTpp({
      dir: sandbox.dir,
      name: "shop",
      endpoints: sandbox.endpoints,
      redirectUri: `${sandbox.endpoints.shop_url}/callback`,
      signatureProfile: options.profile,
      now: sandbox.now,
    });
    try {
      const outcome = await makePayment(tpp, options, report);
      const { bank, paymentId } = outcome;
      if (options.dispute && paymentId !== undefined) {
        await disputePayment(tpp, { bank, paymentId }, sandbox, report);
      }
      return outcome;
    } finally {
      tpp.close();
    }
  } finally {
    await sandbox.close();
  }
}

function result(
  options: DemoOptions,
  outcome: DemoOutcome,
  steps: readonly DemoStep[],
): Record<string, unknown> {
  return { ...outcome, consent: options.consent, profile: options.profile, reject: options.reject, steps };
}

if (import.meta.main) await runProgram(usage, main);
