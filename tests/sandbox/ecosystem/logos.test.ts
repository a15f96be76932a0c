/** What the sandbox's participants have told the directory about themselves leads somewhere. */
import { assertEquals } from "@std/assert";
import { ownFetch } from "../../../src/client/party/mutual_tls.ts";
import { listBanks } from "../../../src/client/tpp/banks.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";

Deno.test("the logos of the sandbox's banks can be fetched [F1, BH5]", async () => {
  await using sandbox = await openPooledSandbox();
  const banks = await listBanks({ authUrl: sandbox.endpoints.auth_url, fetch: ownFetch(fetch) });
  assertEquals(banks.length, 2);
  for (const { bank, logoUri = "" } of banks) {
    const answer = await fetch(logoUri);
    await answer.body?.cancel();
    assertEquals([answer.status, answer.headers.get("content-type")], [200, "image/svg+xml"], bank);
  }
});
