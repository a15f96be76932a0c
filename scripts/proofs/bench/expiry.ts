/**
 * Shows whether PostgreSQL deletes expired rows as fast as payments write them, and whether the table grows by more
 * than what it holds. The rows are those of a payment that expire, with a lifetime of a minute instead of hours, so
 * that a run of minutes contains many lifetimes.
 */
import { openConnections } from "../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../src/base/store/postgres/settings.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { newBenchDatabase, openBenchServer, sizeOf } from "./engines.ts";
import { median } from "./rounds.ts";

/** The state of the table at one time. */
interface Sample {
  readonly live: number;
  /** Rows whose time has passed. */
  readonly expired: number;
  readonly bytes: number;
}

export interface ExpiryFindings {
  readonly paymentsPerSecond: number;
  readonly rowsWritten: number;
  /** One every 10 s after the first two lifetimes. */
  readonly samples: readonly Sample[];
  /** Bytes in the last third, median, over those in the first. */
  readonly growth: number;
  readonly keepsUp: boolean;
}

const PAYMENTS_PER_SECOND = 100;
/** Commits of a payment, and the rows of each that expire. */
const COMMITS = 10;
const ROWS = 2;
const LIFETIME_MS = 60_000;
const SAMPLE_MS = 10_000;
const MOST_GROWTH = 1.1;
/** Seconds of writing whose rows may wait for their deletion. */
const MOST_SECONDS_BEHIND = 5;
const VALUE = {
  clientId: `SC-${"0".repeat(36)}`,
  scope: "payments",
  expiresAt: 0,
  thumbprint: "x".repeat(43),
};

/** Writes for `minutes` and watches the table. */
export async function expiry(minutes: number, say: (text: string) => void): Promise<ExpiryFindings> {
  await using server = await openBenchServer();
  const url = await newBenchDatabase(server);
  const store = openPostgresStore(await openConnections(readPostgresUrl(url)));
  const end = performance.now() + minutes * 60_000;
  const writing = write(store, end);
  const samples: Sample[] = [];
  for (let next = performance.now() + 2 * LIFETIME_MS; next < end; next += SAMPLE_MS) {
    await new Promise((resolve) => setTimeout(resolve, next - performance.now()));
    const sample = await sampleOf(url);
    samples.push(sample);
    say(JSON.stringify(sample));
  }
  const { payments, seconds } = await writing;
  await store.close();
  const third = Math.ceil(samples.length / 3);
  const sizes = samples.map(({ bytes }) => bytes);
  const growth = median(sizes.slice(-third)) / median(sizes.slice(0, third));
  const rowsPerSecond = payments * COMMITS * ROWS / seconds;
  const isBehind = samples.some(({ expired }) => expired > MOST_SECONDS_BEHIND * rowsPerSecond);
  return {
    paymentsPerSecond: payments / seconds,
    rowsWritten: payments * COMMITS * ROWS,
    samples,
    growth,
    keepsUp: !isBehind && growth < MOST_GROWTH,
  };
}

/** The lines of the report. */
export function expiryReport({ paymentsPerSecond, rowsWritten, samples, growth }: ExpiryFindings): string {
  const last = samples.at(-1);
  return [
    `${Math.round(paymentsPerSecond)} payments a second, ${rowsWritten} rows that expire after ${
      LIFETIME_MS / 1000
    } s`,
    `rows past their time: at most ${
      Math.max(...samples.map(({ expired }) => expired))
    }; at the end ${last?.live} ` +
    `rows in ${Math.round((last?.bytes ?? 0) / 1e6)} MB, ${
      growth.toFixed(2)
    } times the size at the beginning`,
    "",
  ].join("\n");
}

/** Writes the rows of payments at their rate; a commit that is late is made up for. */
async function write(store: Store, end: number): Promise<{ payments: number; seconds: number }> {
  const began = performance.now();
  let payments = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      const dueAt = began + payments++ * 1000 / PAYMENTS_PER_SECOND;
      const wait = dueAt - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      for (let commit = 0; commit < COMMITS; commit++) await store.commit({ checks: [], writes: rows() });
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return { payments, seconds: (performance.now() - began) / 1000 };
}

function rows(): Parameters<Store["commit"]>[0]["writes"] {
  const expiresAt = Date.now() + LIFETIME_MS;
  return Array.from({ length: ROWS }, () => ({
    kind: "set" as const,
    key: ["spent_jwt", "dpop", "bench", crypto.randomUUID()],
    value: VALUE,
    expiresAt,
  }));
}

async function sampleOf(url: string): Promise<Sample> {
  const connections = await openConnections(readPostgresUrl(url));
  const [row] = await connections.run((sql) =>
    sql<{ live: string; expired: string }[]>`
      select count(*) as live, count(*) filter (where expires_at < now()) as expired from hub.entry`
  );
  await connections.close();
  return { live: Number(row?.live), expired: Number(row?.expired), bytes: await sizeOf(url) };
}
