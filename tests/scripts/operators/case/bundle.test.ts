import { assert, assertEquals } from "@std/assert";
import type { Bundle } from "../../../../scripts/operators/case/bundle_schema.ts";
import { caseCommand } from "../../../../scripts/operators/case/main.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { authorised } from "testing/authorization_flow.ts";
import { good, pay } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import {
  bundleOf,
  faultsOf,
  grownBundle,
  reportSettled,
  settled,
  toolsFor,
  verifiedOffline,
  withNewKeys,
} from "./bundles.ts";

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
    const other = (await bundleOf(platform, consentId)).text;
    const [byConsent, byPayment] = [other, text].map((bundle) => JSON.parse(bundle) as Bundle);
    assertEquals(byConsent?.entries, byPayment?.entries);
  });
  await t.step("it holds, offline", async () => {
    const { code, words } = await verifiedOffline(text);
    assertEquals(code, 0, words);
    assert(words.startsWith(`HOLDS: consent ${consentId}, payment ${paymentId}\n`), words);
  });
  await t.step("it keeps its verdict if nobody reads what it prints", async () => {
    const file = await Deno.makeTempFile();
    await Deno.writeTextFile(file, text);
    const options = ["--cached-only", "--no-check", "--no-prompt", `--allow-read=${file}`];
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", ...options, "scripts/operators/case/verify.ts", file],
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    await child.stdout.cancel();
    const [{ code }, words] = await Promise.all([child.status, new Response(child.stderr).text()]);
    await Deno.remove(file);
    assertEquals([code, words], [0, ""]);
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

/** Lets every retention period pass. */
async function retire(env: Environment): Promise<void> {
  const { platform } = env;
  await platform.followTime();
  for (const days of [1827, 200]) {
    env.now += days * 86_400_000;
    await platform.followTime();
    assertEquals(await platform.retireCases(), 1);
    while (await platform.finishErasures() + await platform.finishDeletions() > 0);
  }
  await platform.growLog();
}

Deno.test("docs/operations/disputes.md shows what its commands print [EV9, EV13]", async (t) => {
  const page = await Deno.readTextFile(new URL("../../../../docs/operations/disputes.md", import.meta.url));
  const shown = [...page.matchAll(/<!-- output: (\w+) -->\n\n```text\n([\s\S]*?)```/g)];
  await using env = await openEnvironment({
    environment: { PLATFORM_ERASE_CASES_DAYS: "1826", PLATFORM_DELETE_HISTORIES_DAYS: "2000" },
  });
  const { paymentId } = await settled(env);
  env.now += 1000;
  await env.platform.growLog();
  const tools = toolsFor(env.platform);
  const outputs: Readonly<Record<string, readonly string[]>> = {
    case: [paymentId, "--bundle", "case.json", "--url", OPERATIONS_URL],
    screen: [paymentId, "--screen", "--url", OPERATIONS_URL],
    verify: ["verify", "case.json"],
    deleted: [paymentId, "--url", OPERATIONS_URL],
  };
  assertEquals(shown.map(([, name]) => name), Object.keys(outputs));
  for (const [, name = "", text = ""] of shown) {
    await t.step(name, async () => {
      if (name === "deleted") await retire(env);
      assert(await caseCommand(outputs[name] ?? [], tools));
      const printed = `${tools.printed.splice(0).join("\n")}\n`;
      assertEquals(comparable(text), comparable(printed));
    });
  }
});

Deno.test("a bundle that is made while its case changes does not accuse the platform of a missing entry [EV9, EV12]", async () => {
  await using env = await openEnvironment();
  const { consentId, ...flow } = await authorised(env);
  const { Data: { DomesticPaymentId: id } } = await good(pay(env, { ...flow, consentId }), 201);
  await grownBundle(env, id);
  const { get } = env.store;
  let reports = 0;
  env.store.get = (async (key: readonly string[]) => {
    if (key[0] === "log_head" && reports++ === 0) await reportSettled(env, id); // after the histories were read
    return await get(key as never);
  }) as never;
  const first = await env.asOperator(`/operations/cases/${id}`);
  env.store.get = get;
  assertEquals(
    [first.status, reports > 0],
    [503, true],
    first.ok ? (await faultsOf(await first.text())).join() : "",
  );
  assertEquals(await faultsOf(await grownBundle(env, id)), []);
});
