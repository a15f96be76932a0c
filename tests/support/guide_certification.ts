/** The certification in the guides: its commands have the options that they name, and its messages are the hook's. */
import { assert, assertEquals } from "@std/assert";
import { openHook } from "../../scripts/integrators/certify/bank/hook.ts";
import { bankSuite } from "../../scripts/integrators/certify/bank/suite.ts";
import { readOptions } from "../../scripts/integrators/certify/main.ts";
import type { Guides } from "./guide_environment.ts";

/** The chapter of the bank guide. */
export async function bankCertification({ pages: { bank } }: Guides): Promise<void> {
  const commands = bank.take("certification", "Certify your bank").replaceAll(`'${Deno.execPath()}'`, "deno")
    .replaceAll("\\\n", " ").replaceAll(/ #.*/g, "").split("\n");
  for (const command of commands) {
    const [, words = ""] = /task certify bank (.*)$/.exec(command) ?? [];
    assert(words !== "", command);
    readOptions(words.match(/'[^']*'|\S+/g) ?? [], bankSuite);
  }
  const [accounts, decision, answer] = ["Accounts of the customer", "A decision", "Answer to a decision"]
    .map((about) => bank.take("the-hook", about));
  const asked: unknown[] = [];
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    if (request.method === "GET") return new Response(accounts ?? "");
    asked.push(await request.json());
    return new Response(answer ?? "");
  });
  const hook = openHook(`http://127.0.0.1:${server.addr.port}/certification`);
  const shown = JSON.parse(accounts ?? "") as { readonly accounts: unknown };
  assertEquals(await hook.accounts(), shown.accounts);
  const { consent_id, account } = JSON.parse(decision ?? "") as Readonly<
    Record<"consent_id" | "account", string>
  >;
  const location = await hook.decide(consent_id, "approve", account);
  assertEquals(asked, [JSON.parse(decision ?? "")]);
  const back = JSON.parse(answer ?? "") as { readonly location: string };
  assertEquals(location, new URL(back.location));
  await hook.answerDispute("…").catch(() => {}); // the block above is no bundle
  assertEquals(asked[1], JSON.parse(bank.take("the-hook", "A dispute to answer") ?? ""));
}
