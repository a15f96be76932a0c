/** Reads metrics in the text format of Prometheus, as the operations API answers them. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples by the name of their metric. */
export type Scrape = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function readScrape(text: string): Scrape {
  const samples = new Map<string, Sample[]>();
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...labels.matchAll(LABEL)].map(([, label = "", text = ""]) => [label, text] as const);
    const all = samples.get(name) ?? [];
    samples.set(name, all);
    all.push({ labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return samples;
}

/** Returns the sum of a metric by the value of a label. */
export function sumBy(scrape: Scrape, name: string, label: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of scrape.get(name) ?? []) {
    const key = labels[label] ?? "";
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}
