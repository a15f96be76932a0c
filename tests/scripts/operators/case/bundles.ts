/** Cases of payments and their bundles, as `deno task case` writes them. */
import { operationsTools } from "support/operations_tools.ts";
import { verifyBundle } from "../../../../scripts/operators/case/verify_bundle.ts";
import { newFindings } from "../../../../scripts/operators/case/verify_parts.ts";
import { caseCommand, type CaseTools } from "../../../../scripts/operators/case/main.ts";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { composePlatform, type Platform } from "../../../../src/platform/process/compose.ts";
import { authorised } from "testing/authorization_flow.ts";
import { bankCall, orderPath } from "testing/back_channel.ts";
import type { Environment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { OPERATIONS_URL, testOperators } from "testing/operators.ts";
import { platformKeySet } from "testing/platform_keys.ts";

/** A settled payment. */
export async function settled(
  env: Environment,
): Promise<{ readonly consentId: string; readonly paymentId: string }> {
  const { consentId, ...flow } = await authorised(env);
  const { Data } = await good(pay(env, { ...flow, consentId }), 201);
  await reportSettled(env, Data.DomesticPaymentId);
  return { consentId, paymentId: Data.DomesticPaymentId };
}

/** The bank reports that the payment is settled. */
export async function reportSettled(env: Environment, paymentId: string): Promise<void> {
  const report = {
    Data: { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: "2040-01-15T12:00:00Z" },
  };
  const body = JSON.stringify(report);
  await good(bankCall(env, env.bankA, orderPath(paymentId), { method: "PUT", body }), 200);
}

export interface Files extends CaseTools {
  readonly files: Map<string, string>;
  readonly printed: string[];
}

export function toolsFor(platform: Platform): Files {
  const files = new Map<string, string>();
  const printed: string[] = [];
  return {
    files,
    printed,
    ...operationsTools({ platform }),
    readBytes: (path) => Promise.resolve(new TextEncoder().encode(files.get(path) ?? "")),
    writeText: (path, text) => Promise.resolve(void files.set(path, text)),
    print: (line) => void printed.push(line),
  };
}

/** Writes the bundle of a case. Returns its text and what the command printed. */
export async function bundleOf(
  platform: Platform,
  id: string,
): Promise<{ text: string; printed: readonly string[] }> {
  const tools = toolsFor(platform);
  await caseCommand([id, "--bundle", "case.json", "--url", OPERATIONS_URL], tools);
  return { text: tools.files.get("case.json") ?? "", printed: tools.printed };
}

/** Returns a function that verifies a bundle: whether it holds, and what the command prints. */
export function openJudge(
  tools: Files,
): (text: string, ...options: readonly string[]) => Promise<readonly [boolean, string]> {
  return async (text, ...options) => {
    tools.files.set("case.json", text);
    const holds = await caseCommand(["verify", "case.json", ...options], tools);
    return [holds, tools.printed.splice(0).join("\n")];
  };
}

/** Returns the SHA-256 of each party's certificate that the verification prints. */
export function printedThumbprints(words: string): Readonly<Record<"platform" | "TPP" | "bank", string>> {
  const of = (party: string): string =>
    new RegExp(`^signed by the ${party}: .*\n {2}.*, SHA-256 (\\S+)$`, "m").exec(words)?.[1] ?? "";
  return { platform: of("platform"), TPP: of("TPP"), bank: of("bank") };
}

/** Returns the first `limit` sentences of what does not hold. */
export async function faultsOf(text: string | Uint8Array, limit = Infinity): Promise<readonly string[]> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const faults: string[] = [];
  for await (const fault of verifyBundle(bytes, newFindings())) {
    faults.push(fault);
    if (faults.length === limit) break;
  }
  return faults;
}

/** The bundle of a case, with every entry in the log. */
export async function grownBundle(env: Environment, id: string): Promise<string> {
  env.now += 1000;
  await env.platform.growLog();
  return (await bundleOf(env.platform, id)).text;
}

/** The platform a second later, after every key of its own was replaced. */
export async function withNewKeys(env: Environment): Promise<Platform> {
  const platform = await composePlatform({
    config: env.config,
    store: env.store,
    clock: () => env.now,
    monotonic: () => env.now,
    fetch,
    log: () => {},
    keys: await openKeyRing(await platformKeySet(14, 15)),
    operators: await testOperators(),
  });
  env.now += 1000;
  await platform.growLog();
  return platform;
}

/** Runs the verification in a process that may read the bundle and nothing else. */
export async function verifiedOffline(
  bundle: string,
): Promise<{ readonly code: number; readonly words: string }> {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, bundle);
    const options = ["--cached-only", "--no-check", "--no-prompt", `--allow-read=${file}`];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", ...options, "scripts/operators/case/verify.ts", file],
    }).output();
    const decoder = new TextDecoder();
    return { code, words: decoder.decode(stdout) + decoder.decode(stderr) };
  } finally {
    await Deno.remove(file);
  }
}
