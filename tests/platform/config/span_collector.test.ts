/** The collector of spans that a configuration names. */
import { assertEquals } from "@std/assert";
import { readConfig } from "../../../src/platform/config/config.ts";
import { readSpanHeaders, readSpanUrl } from "../../../src/platform/config/span_collector.ts";
import { SOUND_CONFIGURATION } from "support/sound_configuration.ts";

Deno.test("readConfig takes OpenTelemetry's variables of a collector, and needs its endpoint [O9]", () => {
  const headers = { OTEL_EXPORTER_OTLP_TRACES_HEADERS: "X-API-Key=a%2Cb, tenant=hub" };
  assertEquals(readConfig({ ...SOUND_CONFIGURATION, ...headers }).spanCollector, undefined);
  const url = "https://collector.example/v1/traces";
  const both = { ...SOUND_CONFIGURATION, ...headers, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url };
  assertEquals(readConfig(both).spanCollector, { url, headers: { "x-api-key": "a,b", tenant: "hub" } });
});

Deno.test("spans go to https, and to http on loopback alone [O9]", () => {
  for (const url of ["https://collector.example/x", "http://127.0.0.1:4318/v1/traces", "http://[::1]:1/"]) {
    assertEquals(readSpanUrl(url), url);
  }
  for (
    const text of [
      "http://collector.example/",
      "http://127.0.0.2/",
      "https://a:b@c.example/",
      "x",
      "ftp://[::1]/",
    ]
  ) assertEquals(readSpanUrl(text), undefined, text);
});

Deno.test("headers for a collector are name=value pairs, and nothing that ends a header [O9]", () => {
  assertEquals(readSpanHeaders("a=1,b=%20x=y "), { a: "1", b: "x=y" });
  for (const text of ["", "a", "a b=c", "a=x%0d%0ab: c", "=1", "a=1,", "a=%"]) {
    assertEquals(readSpanHeaders(text), undefined, text);
  }
});
