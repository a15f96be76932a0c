import { assert, assertEquals } from "@std/assert";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { composePlatform, type Platform } from "../../../src/platform/compose.ts";
import { caseCommand } from "../../../scripts/case/main.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { OPERATIONS_URL, testOperators } from "testing/operators.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { bundleOf, faultsOf, settled, toolsFor } from "./bundles.ts";

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

Deno.test("a bundle proves a settled payment after the platform's keys were replaced, in a process without network [EV9, EV11]", async (t) => {
  await using env = await openEnvironment();
  const { consentId, paymentId } = await settled(env);
  const platform = await withNewKeys(env);
  const { text, printed } = await bundleOf(platform, paymentId);
  await t.step("it is a timeline in words", () => {
    assertEquals(printed[0], `consent ${consentId}, payment ${paymentId}`);
    assert(printed.some((line) => line.includes("the customer authorised the consent")), printed.join("\n"));
    assert(printed.at(-1)?.includes("the bank reported that the payment was settled"), printed.at(-1));
    assert(!printed.some((line) => /payment\.[A-Z]/.test(line)), "every status in words");
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
