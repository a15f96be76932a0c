/** Ours ÷ floor at concurrency 8, as last measured: what `deno task bench --guard` holds the platform to. */
export const RATIOS: Readonly<Record<string, number>> = {
  "token (client credentials)": 2.2,
  "consent POST": 1.65,
  "consent GET": 1.6,
  "PAR": 3.1,
  "authorize": 1.7,
  "back channel GET": 2.8, // its answer is the one of the consent GET, so its floor has no signature
  "back channel PUT": 1.6,
  "bank return": 1.65,
  "token (code)": 2.9,
  "payment POST": 1.6,
  "payment GET": 1.6,
  "whole payment": 1.7,
};
