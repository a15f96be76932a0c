/** The registry of metrics: bounded labels, joined values, the text format. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { MAX_LABEL_VALUES, openMetrics } from "../../../src/base/observability/metrics.ts";
import { openPlatformMetrics } from "../../../src/platform/observed/metrics.ts";

const DECLARED = {
  calls_total: { kind: "counter", help: "Calls.", labels: { caller: "bounded" } },
  expiry: { kind: "gauge", help: "Expiry.", labels: { caller: "bounded" }, among: "lowest" },
  waiting: { kind: "gauge", help: "Waiting.", labels: { caller: "bounded" }, among: "sum" },
  working: { kind: "gauge", help: "1 if it works." },
  took_seconds: { kind: "histogram", help: "Time.", labels: { route: "fixed" }, buckets: [0.1, 1] },
} as const;

function metricLines(text: string, name: string): readonly string[] {
  return text.split("\n").filter((line) => line.startsWith(name));
}

Deno.test("a bounded label has at most 200 values, and the others are counted together [O2]", async () => {
  const metrics = openMetrics(DECLARED);
  for (let i = 0; i < MAX_LABEL_VALUES + 50; i++) metrics.count("calls_total", { caller: `c${i}` });
  metrics.count("calls_total", { caller: "c0" }, 4);
  const lines = metricLines(await metrics.text(), "calls_total{");
  assertEquals(lines.length, MAX_LABEL_VALUES + 1);
  assert(lines.includes('calls_total{caller="other"} 50'));
  assert(lines.includes('calls_total{caller="c0"} 5'));
});

Deno.test("values beyond the bound are joined as their gauge declares", async () => {
  const metrics = openMetrics(DECLARED);
  const samples = Array.from({ length: MAX_LABEL_VALUES + 3 }, (_, i) => ({
    labels: { caller: `c${i}` },
    value: 1000 - i,
  }));
  metrics.replace("expiry", samples);
  metrics.replace("waiting", samples);
  const text = await metrics.text();
  assert(metricLines(text, "expiry").includes('expiry{caller="other"} 798'));
  assert(metricLines(text, "waiting").includes(`waiting{caller="other"} ${800 + 799 + 798}`));
  metrics.replace("waiting", []);
  assertEquals(metricLines(await metrics.text(), "waiting"), []);
});

Deno.test("values that are set one by one are joined too, and the joined one follows each of them [O2]", async () => {
  const metrics = openMetrics(DECLARED);
  for (let i = 0; i < MAX_LABEL_VALUES + 3; i++) metrics.set("expiry", { caller: `c${i}` }, 100 + i);
  const joined = async (): Promise<readonly string[]> =>
    metricLines(await metrics.text(), 'expiry{caller="other"}');
  assertEquals(await joined(), [`expiry{caller="other"} ${100 + MAX_LABEL_VALUES}`]);
  metrics.set("expiry", { caller: `c${MAX_LABEL_VALUES}` }, 999); // it was renewed
  assertEquals(await joined(), [`expiry{caller="other"} ${101 + MAX_LABEL_VALUES}`]);
});

Deno.test("a gauge without labels is absent until it has a value, and when it has none any more: 0 would be an alarm [O2]", async () => {
  const metrics = openMetrics(DECLARED);
  const seen = async (): Promise<readonly string[]> => metricLines(await metrics.text(), "working");
  assertEquals(await seen(), []);
  metrics.replace("working", []);
  assertEquals(await seen(), []);
  metrics.set("working", {}, 0);
  assertEquals(await seen(), ["working 0"]);
  metrics.replace("working", []);
  assertEquals(await seen(), []);
});

Deno.test("the exposition has help, type and values, and is read at each scrape", async () => {
  const metrics = openMetrics(DECLARED);
  let reads = 0;
  metrics.onScrape(() => metrics.set("waiting", { caller: "a" }, ++reads));
  metrics.observe("took_seconds", { route: "/x" }, 0.5);
  await metrics.text();
  const text = await metrics.text();
  assertMatch(text, /# HELP took_seconds Time\.\n# TYPE took_seconds histogram\n/);
  assert(text.includes('took_seconds_bucket{le="1",route="/x"} 1\n'));
  assert(text.includes('waiting{caller="a"} 2\n'));
});

Deno.test("the certificate of a client that sends no request any more is gone after a day, also from memory [O2]", async () => {
  const name = "platform_client_certificate_expiry_timestamp_seconds";
  let now = 0;
  const metrics = openPlatformMetrics(() => now);
  metrics.set(name, { client: "gone" }, 1);
  metrics.set(name, { client: "active" }, 2);
  now = 86_399_999;
  metrics.set(name, { client: "active" }, 3);
  assertEquals(metrics.read()(name).map(({ value }) => value), [1, 3]);
  now++;
  assertEquals(metrics.read()(name).map(({ value }) => value), [3]);
  assertEquals(metricLines(await metrics.text(), `${name}{`), [`${name}{client="active"} 3`]);
});
