/** What a rejected request to the authorization server says, and what the log says of it. */
import { ApiError } from "../../../../src/base/kernel/api_error.ts";

export const NOW = 1_800_000_000_000;
export const CLIENT = "SC-58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
export const CONSENT = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
export const REDIRECT = "https://shop.example/back";
export const VERIFIER = "v".repeat(43);
export const KEY = "k".repeat(42) + "A";
export const OTHER_KEY = "j".repeat(42) + "A";

export type Form = Readonly<Record<string, string | undefined>>;
export type Told = readonly [
  reason: string,
  description: string | undefined,
  fault: unknown,
  detail: string | undefined,
];

export function formOf(form: Form): ReadonlyMap<string, string> {
  return new Map(Object.entries(form).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]));
}

export async function told(work: Promise<unknown>): Promise<Told | unknown> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { description, fault, detail } = error.parts;
    return [error.reason, description, fault, detail];
  }
}
