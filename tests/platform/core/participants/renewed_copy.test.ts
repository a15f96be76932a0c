/** A copy's age and version are those of the moment when it was asked for, however long the answer takes (Decision A9). */
import { assertEquals } from "@std/assert";
import { ok } from "../../../../src/base/kernel/result.ts";
import { renewedCopy } from "../../../../src/platform/core/participants/renewed_copy.ts";

const NOTHING_KEPT = { load: () => Promise.resolve(undefined), keep: () => Promise.resolve() };
const TIMES = { fresh: 300_000, retry: 30_000 };

Deno.test("read fetches again what was published while the fetch before was under way [A9]", async () => {
  const directory = slowDirectory();
  let version = 1;
  const copy = renewedCopy({
    ages: () => 0,
    kept: NOTHING_KEPT,
    name: "keys",
    times: TIMES,
    fetch: directory.fetch,
    version: () => version,
  });
  const first = copy.read();
  await directory.asked;
  version = 2; // a key is revoked, and the status list shows it, before the answer has arrived
  directory.answer("with the key");
  await first;
  const second = copy.read();
  directory.answer("without it");
  assertEquals(await second, "without it");
});

Deno.test("read counts a copy's age from the request, not from the answer [A9]", async () => {
  const directory = slowDirectory();
  let now = 0;
  const copy = renewedCopy({
    ages: () => now,
    kept: NOTHING_KEPT,
    name: "keys",
    times: TIMES,
    fetch: directory.fetch,
  });
  const first = copy.read();
  await directory.asked;
  now = 2000;
  directory.answer("old");
  await first;
  now = TIMES.fresh;
  const second = copy.read();
  directory.answer("new");
  assertEquals(await second, "new");
});

/** A directory whose answers arrive when the test says so, in the order of the requests. */
function slowDirectory(): {
  fetch(): Promise<ReturnType<typeof ok<string>>>;
  answer(value: string): void;
  /** Resolves with the first request. */
  readonly asked: Promise<void>;
} {
  const first = Promise.withResolvers<void>();
  const answers = Array.from({ length: 2 }, () => Promise.withResolvers<ReturnType<typeof ok<string>>>());
  const [asked, answered] = [[...answers], [...answers]];
  return {
    asked: first.promise,
    fetch() {
      first.resolve();
      return asked.shift()?.promise ?? Promise.reject(new Error("asked too often"));
    },
    answer: (value) => answered.shift()?.resolve(ok(value)),
  };
}
