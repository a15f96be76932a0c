/** Participants' people at a directory that was restored from a copy. */
import { assertEquals } from "@std/assert";
import { openDirectoryEnvironment, START, thirdParty } from "testing/directory_environment.ts";
import { openTestStore } from "testing/test_store.ts";
import { CLIENT_SECRET, openProvider, PROVIDER_ISSUER } from "support/openid_provider.ts";
import { storeCopyKey } from "../../../src/base/store/copy_mark.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { browserOf, issue, signedIn, signIn } from "./visited.ts";

const OWN = "/console/own";

async function restoredStore(): Promise<Store> {
  const store = await openTestStore();
  const mark = { kind: "set", key: storeCopyKey, value: { takenAt: START } } as const;
  await store.commit({ checks: [], writes: [mark] });
  return store;
}

Deno.test("a restored directory lets no login in before an administrator confirms [DRC7, E7]", async () => {
  const store = await restoredStore();
  try {
    await using env = await openDirectoryEnvironment({ store });
    await env.admin("POST", "/participants", await thirdParty([0, 1]));
    const { token, login_id } = await issue(env);
    const kept = await issue(env, "eva");
    for (const one of [token, kept.token, token.replace("SHOP", "NOBODY")]) {
      assertEquals((await browserOf(env).submit("/console/sign-in", { token: one })).status, 503);
    }
    const revoke = `/participants/SHOP/logins/${login_id}/revoke`;
    assertEquals((await env.admin("POST", revoke, { reason: "lost" })).status, 200);
    assertEquals((await (await signedIn(env)).submit("/console/restored/confirm")).status, 303);
    assertEquals((await browserOf(env).submit("/console/sign-in", { token })).status, 403);
    assertEquals((await (await signIn(env, kept.token)).get(OWN)).status, 200);
  } finally {
    await store.close();
  }
});

Deno.test("a restored directory rejects a provider's people of participants before an administrator confirms [DRC7, E7]", async () => {
  const url = "https://directory-admin.example";
  const client = { id: "console", secret: CLIENT_SECRET };
  const store = await restoredStore();
  await using provider = await openProvider(url);
  try {
    await using env = await openDirectoryEnvironment({
      store,
      console: {
        url,
        provider: { issuer: PROVIDER_ISSUER, rolesClaim: "roles", organisationClaim: "organisation", client },
      },
      fetch: (input, init) => provider.send(new Request(input, init)),
    });
    env.now = Date.now();
    await env.admin("POST", "/participants", await thirdParty([0, 1]));
    provider.claims = { roles: "participant", organisation: "SHOP" };
    const person = browserOf(env);
    assertEquals((await person.get(await provider.signIn(person))).status, 503);
    for (const path of [OWN, `${OWN}/files/statement`, `${OWN}/certificates`]) {
      assertEquals((await person.get(path)).status, 303, path);
    }
    assertEquals((await env.admin("GET", "/people/history")).body.history, []);
    await env.admin("POST", "/restored/confirm");
    await person.get(await provider.signIn(person));
    assertEquals((await person.get(OWN)).status, 200);
  } finally {
    await store.close();
  }
});
