/**
 * OpenTelemetry spans, collected in memory and sent to a collector in batches: OTLP 1.3 over HTTP, in JSON. A span has
 * declared names and ids alone. The wire form is written here because an SDK would bring ten packages to the process that
 * holds the keys.
 */

/** A span without its place in a trace. */
export interface Span {
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  /** Milliseconds since the Unix epoch, with fractions. */
  readonly start: number;
  readonly milliseconds: number;
  readonly attributes: Attributes;
  readonly failed: boolean;
}

export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanQueue {
  /**
   * Adds a span and those below it, or drops them. Never waits and never throws.
   *
   * @param traceId 32 hexadecimal digits; without it the span begins a trace of its own
   */
  add(span: Span, below?: readonly Span[], traceId?: string): void;
  /**
   * Sends what has been added, and returns how many spans that were.
   *
   * @throws {Error} if the collector does not take them. They are dropped.
   */
  send(): Promise<number>;
}

export interface SpanQueueDeps {
  readonly fetch: typeof globalThis.fetch;
  /** Such as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** For the collector, such as an API key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of every span: the program and its process. */
  readonly resource: Attributes;
  readonly counted: (result: "sent" | "dropped", by: number) => void;
}

interface PlacedSpan extends Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

const MAX_QUEUED = 10_000;
const MAX_BATCH = 1000;
const TIMEOUT_MS = 5000;
/** `SpanKind` and `StatusCode` of OTLP. */
const KINDS = { internal: 1, server: 2, client: 3 } as const;
const FAILED = 2;

export function openSpanQueue({ fetch, url, headers, resource, counted }: SpanQueueDeps): SpanQueue {
  const queue: PlacedSpan[] = [];
  const post = async (batch: readonly PlacedSpan[]): Promise<void> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(represent(resource, batch)),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the collector of spans answered ${response.status}`);
  };
  return {
    add(span, below = [], traceId = randomId(16)) {
      if (queue.length + below.length >= MAX_QUEUED) return counted("dropped", 1 + below.length);
      const parentSpanId = randomId(8);
      queue.push({ ...span, traceId, spanId: parentSpanId });
      for (const each of below) queue.push({ ...each, traceId, spanId: randomId(8), parentSpanId });
    },
    async send() {
      let sent = 0;
      for (let due = queue.length; due > 0; due -= MAX_BATCH) {
        const batch = queue.splice(0, Math.min(due, MAX_BATCH));
        await post(batch).catch((error: unknown) => {
          counted("dropped", batch.length);
          throw error;
        });
        counted("sent", batch.length);
        sent += batch.length;
      }
      return sent;
    },
  };
}

/** Returns an `ExportTraceServiceRequest` in OTLP's JSON: ids are hexadecimal, 64-bit numbers are texts. */
function represent(resource: Attributes, spans: readonly PlacedSpan[]): object {
  return {
    resourceSpans: [{
      resource: { attributes: representAttributes(resource) },
      scopeSpans: [{ scope: { name: "payment-platform" }, spans: spans.map(representSpan) }],
    }],
  };
}

function representSpan({ start, milliseconds, kind, attributes, failed, ...span }: PlacedSpan): object {
  return {
    ...span,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(start + milliseconds),
    attributes: representAttributes(attributes),
    status: failed ? { code: FAILED } : {},
  };
}

/** Returns whole microseconds, rounded up, so that a time is not within a bound that it exceeds. */
export function microseconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.ceil(milliseconds * 1000);
}

/** Whole microseconds: a double holds no more of the time since 1970. */
function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)}000`;
}

function representAttributes(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === "string" ? { stringValue: value } : { intValue: `${value}` } }];
  });
}

function randomId(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}
