/** The page on which a second operator decides shows what is decided. */
import { assert, assertEquals } from "@std/assert";
import { openConsole } from "testing/console_browser.ts";
import { AGREED, openTwo, post, proposed } from "support/four_eyes.ts";

const REASON = "Ask <b>Luis</b> \u202Eabout\u202C case 4711.";

Deno.test("an operator who approves or declines a proposal sees the change, its body, reason and proposer [FE1, OP15]", async () => {
  await using env = await openTwo();
  const path = `/organisations/${env.otherTpp.orgId}/block`;
  const { body } = await post(env, path, "security", REASON);
  const id = body.Data?.ProposalId ?? "";
  const browser = await openConsole(env);
  for (const decision of ["approve", "withdraw"]) {
    const page = await browser.get(`/console/proposals/${id}/${decision}`);
    assertEquals(page.status, 200);
    for (
      const shown of [
        "Block the organisation",
        path,
        "operator security",
        "Ask &lt;b&gt;Luis&lt;/b&gt; \\u{202e}about",
        "Waits for a second operator",
      ]
    ) {
      assert(page.html.includes(shown), `${decision}: ${shown}`);
    }
    assert(!page.html.includes("\u202E"));
    const missing = await browser.get(`/console/proposals/${crypto.randomUUID()}/${decision}`);
    assertEquals(missing.status, 404);
  }
  assertEquals((await browser.submit(`/console/proposals/${id}/approve`, { reason: AGREED })).status, 303);
  const done = await browser.submit(`/console/proposals/${id}/approve`, { reason: AGREED });
  assertEquals(done.status, 409);
  assert(done.html.includes(path));
  const listed = await browser.get("/console/proposals");
  assert(
    /Block the organisation <span class="detail"><code[^>]*>\/operations\/organisations\//.test(listed.html),
  );
  assert(listed.html.includes('class="state good">Carried out'));
  await proposed(env, `/software/${env.tpp.clientId}/block`);
});
