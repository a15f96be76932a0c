/**
 * Metrics in the text format of Prometheus. Every metric is declared as data with its labels. A label whose values come
 * from outside is bounded: values beyond the bound are counted together as `other`, so that a scrape stays small.
 */
import prometheus from "prom-client";
import { type MonotonicClock, preciseClock } from "../kernel/clock.ts";

/** Values of a bounded label before the others are joined. */
export const MAX_LABEL_VALUES = 200;
/** The label of the values beyond {@link MAX_LABEL_VALUES}. */
export const OTHER = "other";

interface Declared {
  readonly help: string;
  /** `fixed`: the program has a closed list of values. `bounded`: at most {@link MAX_LABEL_VALUES} values. */
  readonly labels?: Readonly<Record<string, "fixed" | "bounded">>;
}

/** Counts events since the start of the process. */
export interface CounterDeclaration extends Declared {
  readonly kind: "counter";
}

/** The current value of something. `among` is the value that stands for all those beyond the bound. */
export interface GaugeDeclaration extends Declared {
  readonly kind: "gauge";
  readonly among?: "sum" | "highest" | "lowest";
  /** A value is gone when it was not set for so long, milliseconds: what it is of may exist no more. */
  readonly keptMs?: number;
}

/** Counts durations by buckets. */
export interface HistogramDeclaration extends Declared {
  readonly kind: "histogram";
  /** Upper bounds, seconds. */
  readonly buckets: readonly number[];
}

export type MetricDeclaration = CounterDeclaration | GaugeDeclaration | HistogramDeclaration;
export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

type Of<D extends MetricDeclarations, K extends MetricDeclaration["kind"]> =
  & { [N in keyof D]: D[N]["kind"] extends K ? N : never }[keyof D]
  & string;
type LabelsOf<D extends MetricDeclaration> = D extends { readonly labels: infer L }
  ? { readonly [name in keyof L]: string }
  : Readonly<Record<never, string>>;

/** One value of a gauge. */
export interface Sample<D extends MetricDeclaration> {
  readonly labels: LabelsOf<D>;
  readonly value: number;
}

/** The metrics of a process. Only declared names and labels compile. */
export interface Metrics<D extends MetricDeclarations> {
  count<N extends Of<D, "counter">>(name: N, labels: LabelsOf<D[N]>, by?: number): void;
  /** Adds a duration in seconds. */
  observe<N extends Of<D, "histogram">>(name: N, labels: LabelsOf<D[N]>, seconds: number): void;
  /** Sets one value of a gauge. */
  set<N extends Of<D, "gauge">>(name: N, labels: LabelsOf<D[N]>, value: number): void;
  /** Replaces all values: of a gauge, or of a counter whose totals are kept elsewhere. */
  replace<N extends Of<D, "gauge" | "counter">>(name: N, samples: readonly Sample<D[N]>[]): void;
  /** Runs `read` before each exposition. It must only read memory, because a scrape must not wait. */
  onScrape(read: () => void): void;
  /** Returns the values of gauges at this moment, none of them joined with others. */
  read(): ReadSamples<D>;
  /** Returns all values in the text format, version 0.0.4. */
  text(): Promise<string>;
}

/** Returns all values of a gauge. */
export type ReadSamples<D extends MetricDeclarations> = <N extends Of<D, "gauge">>(
  name: N,
) => readonly Sample<D[N]>[];

/** The media type of {@link Metrics.text}. */
export const METRICS_TYPE = prometheus.Registry.PROMETHEUS_CONTENT_TYPE;

type Labels = Readonly<Record<string, string>>;

/** Opens the declared metrics, all without values. @param elapsed for values that go */
export function openMetrics<D extends MetricDeclarations>(
  declarations: D,
  elapsed: MonotonicClock = preciseClock,
): Metrics<D> {
  const registry = new prometheus.Registry();
  const opened = openAll(registry, declarations);
  const bound = openBounds();
  const of = (name: string, labels: Labels): Pick<Opened, "own"> & { readonly labels: Labels } => {
    const metric = opened.get(name);
    if (metric === undefined) throw new Error(`${name} is not declared`);
    return { own: metric.own, labels: bound(metric.declared, labels) };
  };
  const samples = openSamples(declarations, elapsed);
  return {
    count(name, given, by = 1) {
      const { own, labels } = of(name, given);
      (own as prometheus.Counter).inc(labels, by);
    },
    observe(name, given, seconds) {
      const { own, labels } = of(name, given);
      (own as prometheus.Histogram).observe(labels, seconds);
    },
    set: samples.set,
    replace: samples.replace,
    onScrape: samples.onScrape,
    read() {
      const all = samples.all();
      return (name) => [...all.get(name)?.values() ?? []] as never;
    },
    text() {
      for (const [name, given] of samples.all()) {
        const bounded = [...given.values()].map(({ labels, value }) => ({ ...of(name, labels), value }));
        expose(opened.get(name)?.own, joinSamples(amongOf(declarations[name]), bounded));
      }
      return registry.metrics();
    },
  };
}

/** Replaces the values of a gauge, or of a counter whose totals are kept elsewhere. */
function expose(own: Opened["own"] | undefined, samples: JoinedSamples): void {
  if (own === undefined || own instanceof prometheus.Histogram) return;
  clear(own);
  for (const { labels, value } of samples.values()) own.inc(labels, value);
}

/** The library begins and resets a gauge without labels with 0, which no one has measured. */
function clear(own: prometheus.Gauge | prometheus.Counter): void {
  own.reset();
  if (own instanceof prometheus.Gauge) own.remove({});
}

function openAll(
  registry: prometheus.Registry,
  declarations: MetricDeclarations,
): ReadonlyMap<string, Opened> {
  const entries = Object.entries(declarations);
  return new Map(entries.map(([name, declared]) => [name, openMetric(registry, name, declared)]));
}

interface Opened {
  readonly declared: MetricDeclaration;
  readonly own: prometheus.Counter | prometheus.Gauge | prometheus.Histogram;
}

function openMetric(registry: prometheus.Registry, name: string, declared: MetricDeclaration): Opened {
  const { help, labels = {} } = declared;
  const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
  switch (declared.kind) {
    case "counter":
      return { declared, own: new prometheus.Counter(options) };
    case "gauge": {
      const own = new prometheus.Gauge(options);
      clear(own);
      return { declared, own };
    }
    case "histogram":
      return { declared, own: new prometheus.Histogram({ ...options, buckets: [...declared.buckets] }) };
  }
}

/** The values that a bounded label has had, for all metrics together: a bank has the same label everywhere. */
function openBounds(): (declared: MetricDeclaration, labels: Labels) => Labels {
  const values = new Map<string, Set<string>>();
  const boundedValue = (label: string, value: string): string => {
    const known = values.get(label) ?? new Set();
    values.set(label, known);
    if (known.has(value)) return value;
    if (known.size >= MAX_LABEL_VALUES) return OTHER;
    known.add(value);
    return value;
  };
  return ({ labels: declared = {} }, labels) => {
    const bounded = { ...labels };
    for (const [label, value] of Object.entries(labels)) {
      if (declared[label] === "bounded") bounded[label] = boundedValue(label, value);
    }
    return bounded;
  };
}

function amongOf(declared: MetricDeclaration | undefined): NonNullable<GaugeDeclaration["among"]> {
  return declared?.kind === "counter"
    ? "sum"
    : declared?.kind === "gauge"
    ? declared.among ?? "highest"
    : "sum";
}

/** Samples by the JSON of their labels. */
type JoinedSamples = Map<
  string,
  { readonly labels: Labels; readonly value: number; readonly setAt?: number }
>;

/** The values of gauges, and of counters whose totals are kept elsewhere, by name. */
interface Samples {
  set(name: string, labels: Labels, value: number): void;
  replace(name: string, samples: readonly { readonly labels: Labels; readonly value: number }[]): void;
  onScrape(read: () => void): void;
  /** After every read of {@link Samples.onScrape}. */
  all(): ReadonlyMap<string, JoinedSamples>;
}

function openSamples(declarations: MetricDeclarations, elapsed: MonotonicClock): Samples {
  const given = new Map<string, JoinedSamples>();
  const readers: (() => void)[] = [];
  return {
    set(name, labels, value) {
      const [samples, key] = [given.get(name) ?? new Map(), JSON.stringify(labels)];
      samples.delete(key); // the value that was set last is the last one
      given.set(name, samples.set(key, { labels, value, setAt: elapsed() }));
      removeOld(samples, declarations[name], elapsed());
    },
    replace: (name, samples) => void given.set(name, joinSamples(amongOf(declarations[name]), samples)),
    onScrape: (read) => void readers.push(read),
    all() {
      readers.forEach((read) => read());
      for (const [name, samples] of given) removeOld(samples, declarations[name], elapsed());
      return given;
    },
  };
}

/** Removes the values that were not set for longer than their gauge declares. */
function removeOld(samples: JoinedSamples, declared: MetricDeclaration | undefined, now: number): void {
  if (declared?.kind !== "gauge" || declared.keptMs === undefined) return;
  for (const [key, { setAt = now }] of samples) {
    if (setAt + declared.keptMs > now) return;
    samples.delete(key);
  }
}

/** Joins the samples whose labels are equal. */
function joinSamples(
  among: NonNullable<GaugeDeclaration["among"]>,
  samples: readonly { readonly labels: Labels; readonly value: number }[],
): JoinedSamples {
  const join = { sum: (a: number, b: number) => a + b, highest: Math.max, lowest: Math.min }[among];
  const all: JoinedSamples = new Map();
  for (const { labels, value } of samples) {
    const name = JSON.stringify(labels);
    const former = all.get(name);
    all.set(name, { labels, value: former === undefined ? value : join(former.value, value) });
  }
  return all;
}
