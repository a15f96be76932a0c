/** The page of proposals: one administrator proposes with a form, another one reads, approves or rejects. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { thirdParty } from "testing/directory_environment.ts";
import { AGREED, asLuis, LUIS_TOKEN, made, openTwo } from "../changes/two_administrators.ts";
import { signedIn, signIn } from "./visited.ts";

const SHOP = "/console/participants/SHOP";
const PROPOSALS = "/console/proposals";

Deno.test("an administrator proposes in the console, and another one reads the whole change and approves it [DRC8, DRC9]", async () => {
  await using env = await openTwo();
  await made(env, "POST", "/participants", await thirdParty([0, 1]));
  const [ana, luis] = [await signedIn(env), await signIn(env, LUIS_TOKEN)];
  const reason = "It answers\u202e nothing <b>more</b>.";
  const sent = await ana.submit(`${SHOP}/status`, { status: "Suspended", reason: "It answers nothing." });
  assertEquals([sent.status, sent.headers.get("location")], [303, `${PROPOSALS}?proposed=true`]);
  const own = (await ana.get(`${PROPOSALS}?proposed=true`)).html;
  assertStringIncludes(own, "a second administrator must approve your proposal");
  assert(!own.includes('/approve"') && own.includes('/reject"'), "an own one can be withdrawn");
  const link = /href="(\/console\/proposals\/[^"]+\/approve)"/.exec((await luis.get(PROPOSALS)).html)?.[1] ??
    "";
  const form = (await luis.get(link)).html;
  for (const words of ["Suspended", "It answers nothing.", "ana", "SHOP"]) assertStringIncludes(form, words);
  assertEquals(cellsOf(form), [["State", "Active", "Suspended"]]);
  const approved = await luis.submit(link, { reason: "Read and agreed." });
  assertEquals([approved.status, approved.headers.get("location")], [303, `${PROPOSALS}?done=approve`]);
  assertStringIncludes(
    (await luis.get(`${PROPOSALS}?done=approve`)).html,
    "The change is approved and made.",
  );
  const page = (await luis.get(SHOP)).html;
  for (const words of ["ana with luis", "Read and agreed.", "Suspended"]) assertStringIncludes(page, words);
  const again = await luis.submit(link, { reason: AGREED });
  assertEquals(again.status, 409);
  assertStringIncludes(again.html, "It is approved.");
  assertEquals((await ana.submit(`${SHOP}/status`, { status: "Active", reason })).status, 400);
});

Deno.test("the page of a proposal shows its body without markup [DRC9]", async () => {
  await using env = await openTwo();
  await made(env, "POST", "/participants", await thirdParty([2, 3]));
  const { body: { software } } = await asLuis(env, "GET", "/participants/SHOP");
  const description = "A <b>shop</b>";
  const redirect_uris = [...software.redirect_uris, "https://shop.example/second"];
  const body = {
    description,
    redirect_uris,
    client_name: software.client_name,
    event_notification_uri: null,
  };
  const { status } = await asLuis(env, "POST", "/participants/SHOP/statement", body);
  assertEquals(status, 202);
  const ana = await signedIn(env);
  const link = /href="(\/console\/proposals\/[^"]+\/approve)"/.exec((await ana.get(PROPOSALS)).html)?.[1] ??
    "";
  const { html } = await ana.get(link);
  assertStringIncludes(html, "A &lt;b&gt;shop&lt;/b&gt;");
  assertEquals(cellsOf(html), [
    ["Description", software.description, "A &lt;b&gt;shop&lt;/b&gt;"],
    ["Redirect addresses", software.redirect_uris.join(" "), redirect_uris.join(" ")],
  ], "what stays as it is needs no row");
});

Deno.test("an administrator rejects in the console, and an approved login shows its token once [DRC4, DRC10]", async () => {
  await using env = await openTwo();
  await made(env, "POST", "/participants", await thirdParty([0, 1]));
  const [ana, luis] = [await signedIn(env), await signIn(env, LUIS_TOKEN)];
  const linkOf = async (decision: string): Promise<string> =>
    new RegExp(`href="(/console/proposals/[^"]+/${decision})"`).exec((await luis.get(PROPOSALS)).html)?.[1] ??
      "";
  await ana.submit(`${SHOP}/logins`, { login_name: "eva" });
  const rejected = await luis.submit(await linkOf("reject"), { reason: "No mandate." });
  assertEquals(rejected.headers.get("location"), `${PROPOSALS}?done=reject`);
  await ana.submit(`${SHOP}/logins`, { login_name: "eva" });
  const approved = await luis.submit(await linkOf("approve"), { reason: AGREED });
  const token = /<code id="token"[^>]*>([^<]+)</.exec(approved.html)?.[1] ?? "";
  assert(token.startsWith("part-SHOP-"), approved.html);
  const person = await signIn(env, token);
  assertEquals((await person.get(PROPOSALS)).status, 403, "a participant's person");
});

/** The rows of the table of what changes: the value, now, after approval. */
function cellsOf(html: string): readonly (readonly string[])[] {
  const [, body = ""] = /<tbody>(.*?)<\/tbody>/s.exec(html) ?? [];
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) =>
      cell.replaceAll("</code>", " ").replaceAll(/<[^>]+>/g, "").trim()
    )
  );
}
