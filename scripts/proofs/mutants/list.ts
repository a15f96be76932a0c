/** Every mutant, by the area of its fault. */
import { AUTHORIZATION_MUTANTS } from "./authorization_mutants.ts";
import type { Mutant } from "./mutant.ts";
import { PAYMENT_MUTANTS } from "./payment_mutants.ts";
import { PROCESS_MUTANTS } from "./process_mutants.ts";
import { REQUEST_MUTANTS } from "./request_mutants.ts";

/** All of them; names are unique. */
export const MUTANTS: readonly Mutant[] = [
  ...REQUEST_MUTANTS,
  ...AUTHORIZATION_MUTANTS,
  ...PAYMENT_MUTANTS,
  ...PROCESS_MUTANTS,
];
