import { assert, assertEquals } from "@std/assert";
import { openEnvironment } from "testing/environment.ts";

const INTER = /^fonts\/inter-\d+\.\d+\.\d+-latin(-ext)?\.woff2$/;

Deno.test("each host serves the typefaces that its style sheet names, for a year [W5]", async (t) => {
  await using env = await openEnvironment();
  const hosts = {
    browser: [env.platform.browser, "https://auth.platform.example/assets/platform.css"],
    operations: [env.platform.operations, "https://operations.example/console/assets/console.css"],
    "directory's public host": [env.directory, "https://directory.example/participants"],
    "directory's console": [env.directory, "https://directory.example/console/assets/console.css"],
  } as const;
  for (const [name, [host, address]] of Object.entries(hosts)) {
    await t.step(name, async () => {
      const ask = (url: string): Promise<Response> =>
        Promise.resolve(host.fetch(new Request(url, { headers: { accept: "text/html" } })));
      const style = await (await ask(address)).text();
      const named = [...style.matchAll(/src:url\("([^"]+)"\) format\("woff2"\)/g)].map(([, path = ""]) =>
        path
      );
      assertEquals(named.filter((path) => INTER.test(path)).length, 2, named.join());
      assertEquals(named.length, 3);
      for (const path of named) {
        const answer = await ask(new URL(path, address).href);
        assertEquals(
          [answer.status, answer.headers.get("content-type"), answer.headers.get("cache-control")],
          [200, "font/woff2", "public, max-age=31536000, immutable"],
          path,
        );
        assertEquals(new TextDecoder().decode((await answer.bytes()).slice(0, 4)), "wOF2");
      }
    });
  }
  const page = await env.platform.browser.fetch(
    new Request("https://auth.platform.example/receipt?lang=ar", { headers: { accept: "text/html" } }),
  );
  assert(page.headers.get("content-security-policy")?.includes("; font-src 'self';"));
  assert((await page.text()).includes(`href="/assets/fonts/noto-sans-arabic-`));
});
