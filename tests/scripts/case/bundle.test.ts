import { assert, assertEquals } from "@std/assert";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { composePlatform, type Platform } from "../../../src/platform/compose.ts";
import { newFindings, verifyBundle } from "../../../scripts/case/verify_bundle.ts";
import { caseCommand, type CaseTools } from "../../../scripts/case/main.ts";
import { authorised } from "testing/authorization_flow.ts";
import { bankCall, orderPath } from "testing/back_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { good, type Json, pay } from "testing/flows.ts";
import { OPERATIONS_URL, OPERATOR_TOKENS, testOperators } from "testing/operators.ts";
import { platformKeySet } from "testing/platform_keys.ts";

/** A settled payment. */
async function settled(
  env: Environment,
): Promise<{ readonly consentId: string; readonly paymentId: string }> {
  const { consentId, ...flow } = await authorised(env);
  const { Data } = await good(pay(env, { ...flow, consentId }), 201);
  const report = {
    Data: { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: "2040-01-15T12:00:00Z" },
  };
  const body = JSON.stringify(report);
  await good(bankCall(env, env.bankA, orderPath(Data.DomesticPaymentId), { method: "PUT", body }), 200);
  return { consentId, paymentId: Data.DomesticPaymentId };
}

/** The platform a second later, after every key of its own was replaced. */
async function withNewKeys(env: Environment): Promise<Platform> {
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

interface Files extends CaseTools {
  readonly files: Map<string, string>;
  readonly printed: string[];
}

function toolsFor(platform: Platform): Files {
  const files = new Map<string, string>();
  const printed: string[] = [];
  return {
    files,
    printed,
    environment: (name) => name === "OPS_TOKEN" ? OPERATOR_TOKENS.auditor : undefined,
    fetch:
      ((url: string, init?: RequestInit) =>
        platform.operations.fetch(new Request(url, init))) as typeof fetch,
    readBytes: (path) => Promise.resolve(new TextEncoder().encode(files.get(path) ?? "")),
    writeText: (path, text) => Promise.resolve(void files.set(path, text)),
    print: (line) => void printed.push(line),
  };
}

/** Writes the bundle of a case. Returns its text and what the command printed. */
async function bundleOf(
  platform: Platform,
  id: string,
): Promise<{ text: string; printed: readonly string[] }> {
  const tools = toolsFor(platform);
  await caseCommand([id, "--bundle", "case.json", "--url", OPERATIONS_URL], tools);
  return { text: tools.files.get("case.json") ?? "", printed: tools.printed };
}

/** Returns the first `limit` sentences of what does not hold. */
async function faultsOf(text: string | Uint8Array, limit = Infinity): Promise<readonly string[]> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const faults: string[] = [];
  for await (const fault of verifyBundle(bytes, newFindings())) {
    faults.push(fault);
    if (faults.length === limit) break;
  }
  return faults;
}

Deno.test("a bundle proves a settled payment after the platform's keys were replaced, in a process without network [EV9, EV11]", async (t) => {
  await using env = await openEnvironment();
  const { consentId, paymentId } = await settled(env);
  const platform = await withNewKeys(env);
  const { text, printed } = await bundleOf(platform, paymentId);
  await t.step("it is a timeline in words", () => {
    assertEquals(printed[0], `consent ${consentId}, payment ${paymentId}`);
    assert(printed.some((line) => line.includes("the customer authorised the consent")), printed.join("\n"));
    assert(printed.at(-1)?.includes("the bank reported that the payment was settled"), printed.at(-1));
  });
  await t.step("the consent's id leads to the same case", async () => {
    const other = JSON.parse((await bundleOf(platform, consentId)).text);
    assertEquals(other.entries, JSON.parse(text).entries);
  });
  await t.step("it holds, offline", async () => {
    const file = await Deno.makeTempFile();
    try {
      await Deno.writeTextFile(file, text);
      const args = [
        "run",
        "--cached-only",
        "--no-check",
        "--no-prompt",
        `--allow-read=${file}`,
        "scripts/case/verify.ts",
      ];
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args, file] })
        .output();
      const words = new TextDecoder().decode(stdout);
      assertEquals(code, 0, words + new TextDecoder().decode(stderr));
      assert(words.startsWith(`HOLDS: consent ${consentId}, payment ${paymentId}\n`), words);
    } finally {
      await Deno.remove(file);
    }
  });
  await t.step("1000 random changes of one byte are all detected [EV10]", async () => {
    const bytes = new TextEncoder().encode(text);
    for (let round = 0; round < 1000; round++) {
      const [at, xor] = [Math.floor(Math.random() * bytes.length), 1 + Math.floor(Math.random() * 255)];
      const changed = bytes.with(at, (bytes[at] ?? 0) ^ xor);
      assert((await faultsOf(changed, 1)).length > 0, `byte ${at} xor ${xor} is not detected`);
    }
  });
  await t.step("an appended or a missing byte is detected [EV10]", async () => {
    const infinite = text.replace(/"at":\d+/, '"at":1e999');
    for (const other of [`${text}\n`, text.trimEnd(), ` ${text}`, infinite, "", "null\n"]) {
      assert((await faultsOf(other)).length > 0);
    }
  });
});

/** Changes of the database behind the platform's back, and what the verification of the next bundle must name. */
const TAMPERED: Readonly<Record<string, readonly [(env: Environment, ids: Json) => Promise<void>, RegExp]>> =
  {
    "a changed actor": [async (env, { consentId }) => {
      await changeAudit(env, consentId, 3, (value) => ({ ...value, actor: "someone" }));
    }, /^entry 3 of \S+ \(\S+\) is not in the signed log$/],
    "a removed entry": [async (env, { consentId }) => {
      await changeAudit(env, consentId, 2, () => undefined);
    }, /^entries of \S+ are missing before 3$/],
    "a removed last entry": [async (env, { paymentId }) => {
      await changeAudit(env, paymentId, 2, () => undefined);
    }, /^the last entries of \S+ are missing$/],
    "changed evidence": [async (env, { consentId }) => {
      await changeEvidence(
        env,
        consentId,
        (value) => ({ ...value, bytes: btoa("other").replace(/=+$/, "") }),
      );
    }, /^the consent_request of entry 1 of \S+ \(\S+\) was changed$/],
    "removed evidence": [async (env, { consentId }) => {
      await changeEvidence(env, consentId, () => undefined);
    }, /is missing, and no entry says that it was deleted$/],
  };

type Change = (value: Json) => Json | undefined;

async function changeAudit(
  env: Environment,
  subject: string,
  sequence: number,
  change: Change,
): Promise<void> {
  const history = await env.store.list<Json>({ prefix: ["audit", subject], limit: 100 });
  const entry = history.find(({ value }) => value["sequence"] === sequence);
  if (entry === undefined) throw new Error("no such entry");
  await put(env, entry.key, change(entry.value));
}

async function changeEvidence(env: Environment, consentId: string, change: Change): Promise<void> {
  const all = await env.store.list<Json>({ prefix: ["evidence"], limit: 1000 });
  const piece = all.find(({ key }) => key[1] === consentId || key[1] === `${consentId} 1 consent_request`);
  if (piece === undefined) throw new Error("no such evidence");
  await put(env, piece.key, change(piece.value));
}

async function put({ store }: Environment, key: readonly string[], value: Json | undefined): Promise<void> {
  const write = value === undefined ? { kind: "delete", key } as const : { kind: "set", key, value } as const;
  assert(await store.commit({ checks: [], writes: [write] }));
}

Deno.test("the verification names what was changed in the database, although the platform signs the bundle [EV12]", async (t) => {
  await using env = await openEnvironment();
  for (const [name, [change, expected]] of Object.entries(TAMPERED)) {
    await t.step(name, async () => {
      const ids = await settled(env);
      env.now += 1000;
      await env.platform.growLog();
      assertEquals(await faultsOf((await bundleOf(env.platform, ids.paymentId)).text), []);
      await change(env, ids);
      const faults = await faultsOf((await bundleOf(env.platform, ids.paymentId)).text);
      assert(faults.some((fault) => expected.test(fault)), faults.join("\n"));
    });
  }
});

/** Ids, hashes and times differ from run to run. */
function comparable(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replaceAll(/\bORG-[0-9a-f]+/g, "ORG")
    .replaceAll(/[A-Za-z0-9_-]{43}\b/g, "HASH")
    .replaceAll(/"[A-Za-z0-9_-]{22}"/g, '"SALT"');
}

Deno.test("docs/operations/disputes.md shows what its commands print [EV9]", async (t) => {
  const page = await Deno.readTextFile(new URL("../../../docs/operations/disputes.md", import.meta.url));
  const shown = [...page.matchAll(/<!-- output: (\w+) -->\n\n```text\n([\s\S]*?)```/g)];
  await using env = await openEnvironment();
  const { paymentId } = await settled(env);
  env.now += 1000;
  await env.platform.growLog();
  const tools = toolsFor(env.platform);
  const outputs: Readonly<Record<string, readonly string[]>> = {
    case: [paymentId, "--bundle", "case.json", "--url", OPERATIONS_URL],
    screen: [paymentId, "--screen", "--url", OPERATIONS_URL],
    verify: ["verify", "case.json"],
  };
  assertEquals(shown.map(([, name]) => name), Object.keys(outputs));
  for (const [, name = "", text = ""] of shown) {
    await t.step(name, async () => {
      assert(await caseCommand(outputs[name] ?? [], tools));
      const printed = `${tools.printed.splice(0).join("\n")}\n`;
      assertEquals(comparable(text), comparable(printed));
    });
  }
});
