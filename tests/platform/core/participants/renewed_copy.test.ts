/**
 * A copy's age and version are those of the moment when it was asked for, however long the answer takes, and it is asked
 * for again at its times (Decision A9).
 */
import { assertEquals } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { because, ok } from "../../../../src/base/kernel/result.ts";
import {
  type Copied,
  type FetchedCopy,
  renewedCopy,
} from "../../../../src/platform/core/participants/renewed_copy.ts";

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

Deno.test("read waits for a fetch that began before another version was known, and fetches again [A9]", async () => {
  const directory = slowDirectory();
  const state = { now: 0, version: 1 };
  const copy = renewedCopy({
    ages: () => state.now,
    kept: NOTHING_KEPT,
    name: "keys",
    times: TIMES,
    fetch: directory.fetch,
    version: () => state.version,
  });
  directory.answer("first");
  await copy.read();
  state.now = TIMES.fresh;
  const renewing = copy.read();
  state.version = 2; // a key is revoked, and the status list shows it, before the answer has arrived
  const reading = copy.read();
  directory.answer("with the key");
  directory.answer("without it");
  assertEquals([await renewing, await reading], ["with the key", "without it"]);
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

Deno.test("background work fetches after the stored copy was loaded, which is not put in place of the newer one [A9]", async () => {
  for (const act of ["refresh", "read"] as const) {
    const formers: (string | undefined)[] = [];
    const load = async () => {
      await new Promise((resolve) => setTimeout(resolve));
      return { value: "stored", fetchedAt: 0, version: undefined };
    };
    const fetch = (former: string | undefined) => {
      formers.push(former);
      return Promise.resolve(ok("newer"));
    };
    const kept = { ...NOTHING_KEPT, load };
    const copy = renewedCopy<string>({ ages: () => TIMES.fresh, kept, name: "list", times: TIMES, fetch });
    await copy[act]();
    assertEquals([formers, copy.peek()], [["stored"], "newer"], act);
  }
});

Deno.test("find asks again for what the directory is known to have, if the fetch under way began before [A9, DC3]", async () => {
  for (const urgency of ["at once", "soon", undefined] as const) {
    const directory = slowDirectory();
    let now = 0;
    const [ages, times] = [() => now, { fresh: 13_000, retry: 10_000 }];
    const copy = renewedCopy({ ages, kept: NOTHING_KEPT, name: "list", times, fetch: directory.fetch });
    directory.answer("without it");
    await copy.read();
    now += times.retry;
    const refreshing = copy.refresh(); // background work
    now += 1000; // then the participant is onboarded, and registers
    const found = copy.find((list) => list === "with it" ? list : undefined, urgency);
    directory.answer("without it");
    directory.answer("with it");
    assertEquals(await found, urgency === undefined ? undefined : "with it", urgency);
    await refreshing;
  }
});

/** A directory whose answers arrive when the test says so, in the order of the requests. */
function slowDirectory(): {
  fetch(): Promise<ReturnType<typeof ok<string>>>;
  answer(value: string): void;
  /** Resolves with the first request. */
  readonly asked: Promise<void>;
} {
  const first = Promise.withResolvers<void>();
  const answers = Array.from({ length: 3 }, () => Promise.withResolvers<ReturnType<typeof ok<string>>>());
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

/** A copy whose clock, answers and version the test sets, with what was asked and kept. */
function watched(kept?: Copied<string>) {
  const state = {
    now: 0,
    answer: because("down") as FetchedCopy<string>,
    version: undefined as number | undefined,
    formers: [] as (string | undefined)[],
    kept: [] as Copied<string>[],
  };
  const copy = renewedCopy<string>({
    ages: () => state.now,
    name: "keys",
    times: TIMES,
    fetch(former) {
      state.formers.push(former);
      return Promise.resolve(state.answer);
    },
    kept: {
      load: () => Promise.resolve(kept),
      keep: (copied) => Promise.resolve(void state.kept.push(copied)),
    },
    version: () => state.version,
  });
  const read = (): Promise<unknown> =>
    copy.read().catch((error) => error instanceof ApiError ? [error.reason, error.parts] : error);
  return { state, copy, read };
}

const UNAVAILABLE = ["platform.unavailable", {
  detail: "no fresh copy of keys: down",
  retryAfterSeconds: 30,
}];

Deno.test("without a copy the directory is asked after 1, 2, 4 … and at most 30 s [A9]", async () => {
  const { state, copy, read } = watched();
  assertEquals([copy.failingSeconds(), copy.ageSeconds(), copy.peek()], [undefined, undefined, undefined]);
  for (const [asked, at] of [0, 1, 3, 7, 15, 31, 61, 91].entries()) {
    state.now = at * 1000 - 1;
    if (at > 0) assertEquals([await read(), state.formers.length], [UNAVAILABLE, asked]);
    state.now += 1;
    assertEquals([await read(), state.formers.length], [UNAVAILABLE, asked + 1], `${at} s`);
    assertEquals(await read(), UNAVAILABLE);
  }
  assertEquals([state.formers.length, new Set(state.formers), state.kept], [8, new Set([undefined]), []]);
  assertEquals([copy.failingSeconds(), copy.ageSeconds()], [0, undefined]);
  state.now += 899_999;
  assertEquals(copy.failingSeconds(), 0);
  state.now += 1;
  assertEquals(copy.failingSeconds(), undefined, "it may be that no participant has asked");
  state.answer = ok("first");
  assertEquals(await Promise.all([read(), read()]), ["first", "first"]);
  assertEquals(state.formers.length, 9, "one fetch for both");
});

Deno.test("a copy is used, kept, aged and reported as failing by its times [A9]", async () => {
  const { state, copy, read } = watched();
  state.version = 4;
  state.answer = ok("first");
  assertEquals(await read(), "first");
  const first = { value: "first", fetchedAt: 0, version: 4 };
  assertEquals(state.kept, [first]);
  state.now = 1999;
  assertEquals([copy.ageSeconds(), copy.failingSeconds(), copy.peek()], [1, undefined, "first"]);
  state.answer = because("down");
  state.version = 5;
  assertEquals([await read(), state.formers], ["first", [undefined, "first"]], "of another version");
  for (const [at, asked] of [[31_998, 2], [31_999, 3], [61_998, 3], [61_999, 4]] as const) {
    state.now = at;
    assertEquals([await read(), state.formers.length], ["first", asked], `${at} ms`);
  }
  assertEquals([copy.failingSeconds(), copy.ageSeconds()], [61, 61]);
  state.answer = { ...because("emptied"), remaining: "rest" };
  state.now = 91_999;
  assertEquals([await read(), state.kept.at(-1)], ["rest", { ...first, value: "rest" }]);
  state.now = 900_000;
  state.answer = because("down");
  assertEquals(await read(), "rest");
  state.now = 900_001;
  assertEquals(await read(), UNAVAILABLE);
  state.now = 1_799_999;
  assertEquals(copy.failingSeconds(), 1799);
  state.now = 1_800_000;
  assertEquals(copy.failingSeconds(), undefined);
  state.answer = { ...because("emptied"), remaining: "rest" };
  await read();
  assertEquals(
    [state.formers.at(-1), state.kept.length],
    [undefined, 2],
    "nothing remains of a copy that is too old",
  );
  state.answer = ok("second");
  state.now += 30_000;
  assertEquals([await read(), copy.failingSeconds(), state.kept.at(-1)], ["second", undefined, {
    value: "second",
    fetchedAt: 1_830_000,
    version: 5,
  }]);
});

Deno.test("a stored copy is used, unless it is of the future or of another version [A9]", async () => {
  for (const [fetchedAt, expected] of [[4, "stored"], [5, "stored"], [6, UNAVAILABLE]] as const) {
    const { state, read } = watched({ value: "stored", fetchedAt, version: undefined });
    state.now = 5;
    assertEquals([await read(), state.formers.length], [expected, expected === "stored" ? 0 : 1]);
  }
  const { state, read } = watched({ value: "stored", fetchedAt: 0, version: 4 });
  state.version = 4;
  assertEquals([await read(), state.formers], ["stored", []], "of the version that the directory has");
  state.version = 5;
  state.answer = ok("newer");
  assertEquals([await read(), state.formers], ["newer", ["stored"]]);
});

Deno.test("find waits for no fetch if the copy has what it looks for, and asks by urgency if it has not [A9, DC3]", async () => {
  for (
    const [urgency, after, asked] of [
      [undefined, 29_999, 1],
      [undefined, 30_000, 2],
      ["soon", 999, 1],
      ["soon", 1000, 2],
      ["at once", 0, 2],
    ] as const
  ) {
    const { state, copy } = watched();
    state.answer = ok("one");
    await copy.read();
    state.now = after;
    state.answer = ok("two");
    const found = await copy.find((text) => text === "two" ? text : undefined, urgency);
    assertEquals(
      [found, state.formers.length],
      [asked === 1 ? undefined : "two", asked],
      `${urgency} ${after}`,
    );
    assertEquals([await copy.find((text) => text, urgency), state.formers.length], [
      asked === 1 ? "one" : "two",
      asked,
    ]);
  }
  const directory = slowDirectory();
  let now = 0;
  const copy = renewedCopy({
    ages: () => now,
    kept: NOTHING_KEPT,
    name: "list",
    times: TIMES,
    fetch: directory.fetch,
  });
  directory.answer("one");
  await copy.read();
  now = 30_000;
  const refreshing = copy.refresh();
  assertEquals(await copy.find((text) => text), "one", "while the directory is asked");
  directory.answer("two");
  await refreshing;
  assertEquals(copy.peek(), "two");
});
