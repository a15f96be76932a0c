/** The mark in a copied database. `deno task store` writes it, and the program that opens the copy acts on it. */
import type { Key } from "./store.ts";

/** Key of the mark. The program removes it when it has processed the copy. */
export const storeCopyKey: Key = ["store_copy"];
