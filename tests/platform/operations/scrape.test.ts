/** The console reads its figures from the text of the metrics. */
import { assertEquals } from "@std/assert";
import { readScrape, sumBy } from "../../../src/platform/operations/scrape.ts";

Deno.test("readScrape reads labels with braces and escapes, and skips comments", () => {
  const scrape = readScrape([
    "# HELP platform_requests_total Requests.",
    'platform_requests_total{route="/{bank}/token.oauth2/v1",method="POST",status="200"} 6',
    'platform_requests_total{route="/jwks",method="GET",status="200"} 2',
    String.raw`platform_requests_total{route="a\"},b=\"c",method="GET",status="404"} 1`,
    "platform_uptime_seconds 1.5",
  ].join("\n"));
  assertEquals([...sumBy(scrape, "platform_requests_total", "status")], [["200", 8], ["404", 1]]);
  assertEquals(scrape.get("platform_uptime_seconds"), [{ labels: {}, value: 1.5 }]);
});
