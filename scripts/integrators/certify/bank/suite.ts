/** `deno task certify bank`: its options, its cases, and how the bank under test is brought onto the bench. */
import { freeSandboxPorts } from "../../../command_line/free_ports.ts";
import { oneOf, wholeNumber } from "../../../command_line/option_values.ts";
import { type Options, UsageError } from "../../../command_line/run.ts";
import type { OpenBench, Suite } from "../case.ts";
import { type BankBench, type BankCase, openBankBench } from "./bench.ts";
import { DISPUTE_CASES } from "./dispute_cases.ts";
import { ELSEWHERE_CASES } from "./elsewhere_cases.ts";
import { FORGED_ORDER_CASES } from "./forged_order_cases.ts";
import { HANDOVER_CASES } from "./handover_cases.ts";
import { JOURNEY_CASES } from "./journey_cases.ts";
import { KEY_CASES } from "./key_cases.ts";
import { onboardBank, startBank } from "./own_bank.ts";
import { ORDER_CASES } from "./order_cases.ts";
import { openPlatformSide, type PlatformSide } from "./platform_side.ts";
import { REPLAY_CASES } from "./replay_cases.ts";
import { REPORT_CASES } from "./report_cases.ts";
import { WAY_BACK_CASES } from "./way_back_cases.ts";

/** Every case, in the order in which they run. */
export const BANK_CASES: readonly BankCase[] = [
  ...JOURNEY_CASES,
  ...WAY_BACK_CASES,
  ...ELSEWHERE_CASES,
  ...HANDOVER_CASES,
  ...REPLAY_CASES,
  ...ORDER_CASES,
  ...FORGED_ORDER_CASES,
  ...REPORT_CASES,
  ...DISPUTE_CASES,
  ...KEY_CASES,
];

/** The sandbox's banks and their folders. */
const SANDBOX_BANKS: Readonly<Record<string, string>> = { BANKA: "bank-a", BANKB: "bank-b" };
/** A bank reads the key set again for an unknown kid, at most once in 30 seconds (docs/bank.md). */
const KEY_LEAD_SECONDS = 31;
const MAX_KEY_LEAD_SECONDS = 500;
const NAME = "bank-under-test";

const USAGE =
  `  --details FILE     the bank's company, contacts and software, as for "deno task participant onboard"
  --start COMMAND    starts the bank; without it the certification waits until you have started it
  --hook URL         where the bank serves the hook (docs/bank.md); default: "/certification" at the host of
                     its redirect URL
  --sandbox CODE     certify a bank of the sandbox, BANKA or BANKB, in place of your own
  --dir DIR          keep the ecosystem in this folder, so that the bank stays onboarded; default: a temporary one
  --port N           first of the ecosystem's six ports; default: free ones
  --key-lead SECONDS how long the platform's next keys are published before they sign; default ${KEY_LEAD_SECONDS}
`;

/** The suite of banks. */
export const bankSuite: Suite<BankBench> = {
  name: "bank",
  version: "5",
  usage: USAGE,
  options: ["details", "start", "hook", "sandbox", "dir", "port", "key-lead"],
  cases: BANK_CASES,
  open,
};

async function open(
  options: Options<string, never>,
  print: (line: string) => void,
): Promise<OpenBench<BankBench>> {
  const { sandbox, details, dir: kept } = options;
  if (sandbox === undefined && details === undefined) {
    throw new UsageError("--details or --sandbox is missing.");
  }
  if (sandbox !== undefined) oneOf("sandbox", sandbox, Object.keys(SANDBOX_BANKS));
  const keyLeadSeconds = options["key-lead"] === undefined
    ? KEY_LEAD_SECONDS
    : wholeNumber("key-lead", options["key-lead"], MAX_KEY_LEAD_SECONDS);
  const port = options["port"] === undefined
    ? freeSandboxPorts()
    : wholeNumber("port", options["port"], 65_530);
  await using started = new AsyncDisposableStack();
  const dir = kept ?? await Deno.makeTempDir({ prefix: "certification-" });
  if (kept === undefined) started.defer(() => Deno.remove(dir, { recursive: true }));
  const platform = await openPlatformSide({ dir, port, log: print });
  started.defer(() => platform.close());
  const { folder, hookUrl } = sandbox === undefined
    ? await bringOwnBank(platform, { ...options, details: details ?? "" }, started, print)
    : sandboxBank(platform, sandbox);
  const bench = await openBankBench(platform, { folder, hookUrl, keyLeadSeconds });
  const { code: org_id, redirectUri: address } = bench.bank;
  const parts = started.move();
  return { bench, subject: { role: "ASPSP", org_id, address }, close: () => parts.disposeAsync() };
}

interface Place {
  readonly folder: string;
  readonly hookUrl: string;
}

function sandboxBank({ dir, endpoints }: PlatformSide, code: string): Place {
  const hookUrl = `${endpoints.banks_url}/${code}/certification`;
  return { folder: `${dir}/participants/${SANDBOX_BANKS[code]}`, hookUrl };
}

async function bringOwnBank(
  platform: PlatformSide,
  { details, start, hook }: { readonly details: string; readonly start?: string; readonly hook?: string },
  started: AsyncDisposableStack,
  print: (line: string) => void,
): Promise<Place> {
  const { folder, redirectUri } = await onboardBank(platform, { name: NAME, details, print });
  const hookUrl = hook ?? `${new URL(redirectUri).origin}/certification`;
  const bank = await startBank({ dir: platform.dir, folder, hookUrl, command: start, print });
  started.defer(() => bank.stop());
  return { folder, hookUrl };
}
