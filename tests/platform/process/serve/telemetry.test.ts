/** OpenTelemetry: what a real receiver gets from the platform as a process [A7]. */
import { assert, assertEquals, assertMatch, fail } from "@std/assert";
import { firstOf } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { type FlowEnvironment, good, pay } from "testing/flows.ts";
import { asTheProxy, openFixture, settle } from "testing/served_environment.ts";
import { OPERATOR_TOKENS, operatorsFile } from "testing/operators.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";
import { type Ending, type ServedPlatform, startPlatform } from "testing/served_platform.ts";
import { until } from "support/raw_client.ts";

const PAYMENT = "POST /{bank}/domestic-payments/v1";

interface Receiver extends AsyncDisposable {
  /** For the exporter of Deno. */
  readonly variables: Readonly<Record<string, string>>;
  /** For the spans of the platform. */
  readonly collector: Readonly<Record<string, string>>;
  /** The values of `x-api-key`. */
  readonly keys: ReadonlySet<string | null>;
  /** Path and body of every export. */
  readonly exported: readonly string[];
}

function openReceiver(answer: () => Response = () => Response.json({})): Receiver {
  const exported: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    exported.push(`${new URL(request.url).pathname} ${await request.text()}`);
    keys.add(request.headers.get("x-api-key"));
    return answer();
  });
  const keys = new Set<string | null>();
  return {
    exported,
    keys,
    collector: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${server.addr.port}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-api-key=of%20the%20collector",
    },
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
  void process.ready.then(() => process.kill("SIGTERM"), () => {});
  const { code, stderr } = await ended(process);
  assert(code === 1 || code === 137, `it has not started: ${code}`);
  assert(stderr.includes("OTEL_DENO: ") && stderr.includes("set OTEL_DENO_TRACING=false"), stderr);
});

Deno.test("Deno's metrics are exported without spans, and contain nothing that was sent [O7]", async () => {
  await using receiver = openReceiver();
  const { queries, ids } = await payWith(
    { ...receiver.variables, OTEL_DENO_TRACING: "false" },
    () => until(() => receiver.exported.some((body) => body.includes("http.server.request.duration"))),
  );
  const all = receiver.exported.join("\n");
  assert(queries.length >= 3, `${queries.length} values`);
  assertEquals(found(all, [...queries, ...ids, "authorization.oauth2"]), []);
  assertEquals(receiver.exported.filter((body) => body.startsWith("/v1/traces")), []);
});

Deno.test("a collector gets spans of requests, store and calls by their routes, and nothing that was sent [O9]", async () => {
  await using receiver = openReceiver();
  const spans = (): readonly Span[] => receiver.exported.flatMap(spansOf);
  const { queries, ids, payment } = await payWith(receiver.collector, async () => {
    await until(() => spans().some(({ name }) => name === PAYMENT));
  });
  const all = receiver.exported.join("\n");
  const { "payment.client_id": client = "" } = spans().find(({ name }) => name === PAYMENT)?.attributes ?? {};
  const sent = queries.filter((value) => value !== client); // a client's id is no secret
  assert(sent.length >= 3 && sent.length < queries.length, `${sent.length} of ${queries.length}`);
  assertEquals(found(all, [...sent, ...ids, "eyJ", "rpt=", "PAYER", "code="]), []);
  assertEquals([...receiver.keys], ["of the collector"]);

  const paid = spans().find(({ name }) => name === PAYMENT);
  const { attributes, traceId, kind, status, parentSpanId } = paid ?? fail("no span of the payment");
  assertMatch(attributes["payment.microseconds"] ?? "", /^[1-9][0-9]*$/);
  assertEquals({ ...attributes, "payment.client_id": "", "payment.org_id": "", "payment.microseconds": "" }, {
    "http.request.method": "POST",
    "http.route": "/{bank}/domestic-payments/v1",
    "http.response.status_code": "201",
    "payment.interaction_id": payment,
    "payment.client_id": "",
    "payment.org_id": "",
    "payment.bank": "BANKA",
    "payment.microseconds": "",
  });
  assertEquals([traceId, kind, status, parentSpanId], [payment.replaceAll("-", ""), 2, {}, undefined]);
  const below = spans().filter((span) => span.parentSpanId === paid?.spanId);
  const commit = below.find(({ name }) => name === "store commit") ?? fail("no span of the commit");
  assertEquals([commit.traceId, commit.kind, commit.attributes], [traceId, 3, {
    "db.operation.name": "commit",
  }]);
  assert(BigInt(commit.startTimeUnixNano) >= BigInt(paid?.startTimeUnixNano ?? 0));
  assert(BigInt(commit.endTimeUnixNano) <= BigInt(paid?.endTimeUnixNano ?? 0));
  assert(Math.abs(Number(paid?.startTimeUnixNano) / 1e6 - Date.now()) < 60_000, paid?.startTimeUnixNano);

  const called = spans().find(({ name }) => name === "call directory");
  assertEquals(called?.attributes, { "peer.service": "directory", "http.response.status_code": "200" });
  const names = new Set(spans().map(({ name }) => name));
  assert(names.has("GET /{bank}/authorization.oauth2") && names.has("POST /register/v1"), [...names].join());
  assertEquals([...names].filter((name) => name.includes("health")), []);
  assertEquals(new Set(spans().map(({ spanId }) => spanId)).size, spans().length);
});

Deno.test("a collector that does not take spans delays no payment, and their number is in the metrics [O9]", async () => {
  await using receiver = openReceiver(() => new Response(null, { status: 503 }));
  const [port, token] = [freePort(), OPERATOR_TOKENS.viewer];
  const operators = await Deno.makeTempFile();
  await Deno.writeTextFile(operators, await operatorsFile(), { mode: 0o600 });
  let metrics = "";
  const variables = {
    ...receiver.collector,
    PLATFORM_OPERATIONS_PORT: String(port),
    PLATFORM_OPERATORS: operators,
  };
  await payWith(variables, async (process) => {
    const { error } = await process.logged("work.failed");
    assert(String(error).includes("the collector of spans answered 503"), String(error));
    const headers = { authorization: `Bearer ${token}` };
    metrics = await (await fetch(`http://127.0.0.1:${port}/operations/metrics`, { headers })).text();
  });
  assertMatch(metrics, /^platform_spans_total\{result="dropped"\} [1-9]/m);
  assert(!/^platform_spans_total\{result="sent"\} [1-9]/m.test(metrics));
  await Deno.remove(operators);
});

/** A span as OTLP has it, with its attributes as an object. */
interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly status: object;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface WithAttributes {
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: string };
  }[];
}

interface ExportedSpans {
  readonly resourceSpans: readonly {
    readonly resource: WithAttributes;
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<Span, "attributes"> & WithAttributes)[];
    }[];
  }[];
}

function spansOf(body: string): readonly Span[] {
  const { resourceSpans } = JSON.parse(body.slice(body.indexOf(" "))) as ExportedSpans;
  const { resource, scopeSpans } = firstOf(resourceSpans);
  assertEquals(attributesOf(resource)["service.name"], "payment-platform");
  return firstOf(scopeSpans).spans.map((span) => ({ ...span, attributes: attributesOf(span) }));
}

function attributesOf({ attributes }: WithAttributes): Readonly<Record<string, string>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? ""]),
  );
}

/** The texts that are in `all`, as they are or percent-encoded. */
function found(all: string, texts: readonly string[]): readonly string[] {
  return texts.filter((text) => all.includes(text) || all.includes(encodeURIComponent(text)));
}

/**
 * Makes a payment at a platform with these variables.
 *
 * @returns the values of all queries, the ids of the payment, and the interaction id of its request
 */
async function payWith(
  variables: Readonly<Record<string, string>>,
  meanwhile: (process: ServedPlatform) => Promise<unknown>,
): Promise<{ queries: readonly string[]; ids: readonly string[]; payment: string }> {
  await using fixture = await openFixture("Sandbox");
  const process = await startPlatform(fixture.folder, { ...fixture.env, ...variables });
  try {
    await process.ready;
    const send = asTheProxy(fixture.env["PORT"] ?? "");
    const queries = new Set<string>();
    let payment = "";
    const api: typeof send = async (request, as) => {
      for (const value of new URL(request.url).searchParams.values()) queries.add(value);
      const response = await send(request, as);
      payment = response.headers.get("x-fapi-interaction-id") ?? "";
      return response;
    };
    const people = await settle(fixture, api);
    const env: FlowEnvironment = { ...people, now: fixture.now, api, browser: api };
    const { Data } = await good(pay(env, await authorised(env)), 201);
    await meanwhile(process);
    return { queries: [...queries], ids: [Data.DomesticPaymentId, Data.ConsentId], payment };
  } finally {
    process.kill("SIGTERM");
    await ended(process);
  }
}

/** Waits for the end of a process. Deno 2.9.6 sometimes hangs when it ends its own exporter. */
async function ended(process: ServedPlatform): Promise<Ending> {
  const hanging = setTimeout(() => process.kill("SIGKILL"), 20_000);
  try {
    return await process.ended;
  } finally {
    clearTimeout(hanging);
  }
}
