/** Ours ÷ floor at concurrency 8, as last measured: what `deno task bench --guard` holds the platform to. */
export const RATIOS: Readonly<Record<string, number>> = {
  "token (client credentials)": 1.65,
  "consent POST": 1.35,
  "consent GET": 1.3,
  "PAR": 2.1,
  "authorize": 1.3,
  "back channel GET": 1.25,
  "back channel PUT": 1.4,
  "bank return": 1.25,
  "token (code)": 1.75,
  "payment POST": 1.35,
  "payment GET": 1.3,
  "whole payment": 1.45,
};
