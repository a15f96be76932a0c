/** The console while the database fails: it says so, and shows nothing unknown as if it were well. */
import { assert, assertEquals } from "@std/assert";
import { breakableStore } from "support/breakable_store.ts";
import { type ConsoleBrowser, openConsole } from "testing/console_browser.ts";
import { StoreFailure } from "../../../../src/base/store/store.ts";
import { openEnvironment } from "testing/environment.ts";

const UNREAD = "This cannot be shown, because:";
const WORKS = '<span class="state good">';

async function withBrokenStore(act: (browser: ConsoleBrowser) => Promise<void>): Promise<void> {
  const { store, faults } = await breakableStore();
  await using env = await openEnvironment({ store });
  const browser = await openConsole(env, "operator");
  faults.failure = new StoreFailure("/var/lib/secret is locked");
  await act(browser);
}

Deno.test("the dashboard names the part that fails, and shows no bank as well [OP15]", async () => {
  await withBrokenStore(async (browser) => {
    const { status, html } = await browser.get("/console");
    assertEquals(status, 200);
    const card = (title: string): string => html.split("<h2>").find((part) => part.startsWith(title)) ?? "";
    const [parts, banks] = [card("Parts of the platform"), card("Banks")];
    assert(parts.includes("Database") && parts.includes("Fails"), parts);
    assert(parts.includes("cannot be read or written"), parts);
    assert(banks.includes(UNREAD) && !banks.includes(WORKS), banks);
  });
});

Deno.test("the page of the banks shows no state that it could not read [OP15]", async () => {
  await withBrokenStore(async (browser) => {
    const { status, html } = await browser.get("/console/banks");
    assertEquals(status, 200);
    assert(html.includes(UNREAD) && !html.includes(WORKS), html);
  });
});
