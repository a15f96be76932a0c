/** Ours ÷ floor at concurrency 8, as last measured: what `deno task bench --guard` holds the platform to. */
export const RATIOS: Readonly<Record<string, number>> = {};
