/** The thread that runs a share of the seeds. */
import type { Failure, Tally } from "./simulate.ts";

/** Every `stride`-th seed from `first` to before `end`. */
export interface Share {
  readonly first: number;
  readonly stride: number;
  readonly end: number;
  readonly seconds: number;
  readonly hasRealCrypto: boolean;
}

/** The result of one share of the seeds. */
export interface ShareResult {
  readonly tally: Tally;
  readonly failure?: Failure;
}

function* numbersOf({ first, stride, end }: Share): Iterable<number> {
  for (let number = first; number < end; number += stride) yield number;
}

/** Seeds between two messages. */
const TOLD_EVERY = 20;

// The types of this project are those of the main thread, which has neither of the two.
if ("WorkerGlobalScope" in globalThis) {
  Reflect.set(globalThis, "onmessage", async ({ data }: { readonly data: Share }) => {
    const tell = (message: Tally | ShareResult): unknown =>
      Reflect.apply(Reflect.get(globalThis, "postMessage"), globalThis, [message]);
    const onSeed = (tally: Tally): unknown => tally.seeds % TOLD_EVERY === 0 && tell(tally);
    if (data.hasRealCrypto) await import("./real_crypto.ts"); // before the parties have their keys
    const { runSeeds } = await import("./simulate.ts");
    tell(await runSeeds(numbersOf(data), data.seconds, onSeed));
  });
}
