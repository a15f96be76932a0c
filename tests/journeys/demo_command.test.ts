/** `deno task demo` as a shell sees it: its exit status and its JSON output [F4]. */
import { assertEquals, assertMatch } from "@std/assert";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { taskCommand } from "testing/served_platform.ts";

async function demo(
  dir: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [program = "", ...words] = await taskCommand("demo");
  const command = new Deno.Command(program, { args: [...words, ...args], env: { SANDBOX_DIR: dir } });
  const { code, stdout, stderr } = await command.output();
  const [out = "", err = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out, stderr: err };
}

/** The output with `--json`. */
interface Printed {
  readonly ok: boolean;
  readonly result: string;
  readonly error?: string;
  readonly consentStatus?: string;
  readonly paymentStatus?: string;
  readonly steps: readonly { readonly text: string }[];
}

Deno.test("the demo's exit status is 0 only if the payment is accepted, and 3 if the customer rejected as asked [F4]", async () => {
  await using ecosystem = await openPooledSandbox();
  const { dir } = ecosystem;
  const paid = await demo(dir, ["--consent", "bank", "--json"]);
  const { ok, result, paymentStatus, steps } = JSON.parse(paid.stdout) as Printed;
  assertEquals([paid.code, ok, result, paymentStatus], [
    0,
    true,
    "accepted",
    "AcceptedSettlementInProcess",
  ]);
  assertMatch(
    steps.at(-1)?.text ?? "",
    /^events: consent-authorised .*, consent-consumed .*, payment-status-changed /,
  );
  const rejected = await demo(dir, ["--consent", "implicit", "--refuse", "--json"]);
  const seen = JSON.parse(rejected.stdout) as Printed;
  assertEquals([rejected.code, seen.ok, seen.result, seen.error, seen.consentStatus], [
    3,
    false,
    "refused",
    "access_denied",
    "Rejected",
  ]);
  const wrong = await demo(dir, ["--refuse=yes"]);
  assertEquals([wrong.code, wrong.stdout], [2, ""]);
  assertMatch(wrong.stderr, /'--refuse' does not take an argument; --help/);
  assertMatch((await demo(dir, ["--help"])).stdout, /3\s+the customer rejected, as --refuse asks/);
});
