/** OpenTelemetry of Deno: what a real receiver gets from the platform as a process [A7]. */
import { assert, assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { type FlowEnvironment, good, pay } from "testing/flows.ts";
import { asTheProxy, openFixture, settle } from "testing/served_environment.ts";
import { startPlatform } from "testing/served_platform.ts";
import { until } from "support/raw_client.ts";

interface Receiver extends AsyncDisposable {
  readonly variables: Readonly<Record<string, string>>;
  /** Path and body of every export. */
  readonly exported: readonly string[];
}

function openReceiver(): Receiver {
  const exported: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    exported.push(`${new URL(request.url).pathname} ${await request.text()}`);
    return Response.json({});
  });
  return {
    exported,
    variables: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.addr.port}`,
      OTEL_METRIC_EXPORT_INTERVAL: "200",
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("the platform does not start while Deno would export spans, which have whole URLs [O7]", async () => {
  await using receiver = openReceiver();
  await using fixture = await openFixture("Sandbox");
  const process = await startPlatform(fixture.folder, { ...fixture.env, ...receiver.variables });
  await process.ready.then(() => process.kill("SIGTERM"), () => {});
  const { code, stderr } = await process.ended;
  assertEquals(code, 1, "it has not started");
  assert(stderr.includes("OTEL_DENO: ") && stderr.includes("set OTEL_DENO_TRACING=false"), stderr);
});

Deno.test("Deno's metrics are exported without spans, and contain nothing that was sent [O7]", async () => {
  await using receiver = openReceiver();
  await using fixture = await openFixture("Sandbox");
  const variables = { ...receiver.variables, OTEL_DENO_TRACING: "false" };
  const process = await startPlatform(fixture.folder, { ...fixture.env, ...variables });
  try {
    await process.ready;
    const send = asTheProxy(fixture.env["PORT"] ?? "");
    const queries = new Set<string>();
    const api: typeof send = async (request, as) => {
      for (const value of new URL(request.url).searchParams.values()) queries.add(value);
      return await send(request, as);
    };
    const people = await settle(fixture, api);
    const env: FlowEnvironment = { ...people, now: fixture.now, api, browser: api };
    const { Data } = await good(pay(env, await authorised(env)), 201);
    await until(() => receiver.exported.some((body) => body.includes("http.server.request.duration")));
    const all = receiver.exported.join("\n");
    const sent = [...queries, Data.DomesticPaymentId, Data.ConsentId, "authorization.oauth2"];
    assert(queries.size >= 3, `${queries.size} values`);
    assertEquals(sent.filter((text) => all.includes(text) || all.includes(encodeURIComponent(text))), []);
    assertEquals(receiver.exported.filter((body) => body.startsWith("/v1/traces")), []);
  } finally {
    process.kill("SIGTERM");
    await process.ended;
  }
});
