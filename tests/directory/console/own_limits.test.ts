/** How much the people of one participant can make the directory keep. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { firstOf } from "testing/answers.ts";
import { bank } from "testing/directory_environment.ts";
import { everything } from "testing/store_contents.ts";
import { onboarded } from "../changes/onboarded.ts";
import { issue, signIn } from "./visited.ts";

const OWN = "/console/own";

Deno.test("a participant's people together get 20 certificates or statements at once and one more every 3 minutes, and revoke keys beyond that [DRC6, E7]", async () => {
  await using env = await onboarded();
  await env.admin("POST", "/participants", await bank([2, 3]));
  const luis = await signIn(env, (await issue(env)).token);
  const eva = await signIn(env, (await issue(env, "eva")).token);
  const bankPerson = await signIn(env, (await issue(env, "ana", "BANKA")).token);
  for (let count = 0; count < 20; count++) {
    env.now += 1000;
    const person = count % 2 === 0 ? luis : eva;
    assertEquals((await person.submit(`${OWN}/statement`)).status, 303);
  }
  const before = await everything(env.store);
  for (const path of ["statement", "certificates"]) {
    const page = await eva.submit(`${OWN}/${path}`);
    assertEquals(page.status, 429, path);
    assertStringIncludes(page.html, "20 changes an hour");
  }
  assertEquals(await everything(env.store), before);
  const { kid } = firstOf((await env.admin("GET", "/participants/SHOP")).body.keys);
  assertEquals((await eva.submit(`${OWN}/keys/${kid}/revoke`, { reason: "lost" })).status, 303);
  assertEquals((await bankPerson.submit(`${OWN}/statement`)).status, 303);
  assertEquals((await env.admin("POST", "/participants/SHOP/statement")).status, 200);
  env.now += 3_600_000 / 20;
  assertEquals((await eva.submit(`${OWN}/statement`)).status, 303);
  assertEquals((await eva.submit(`${OWN}/statement`)).status, 429);
});
