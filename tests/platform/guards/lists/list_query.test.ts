/** The query of a list: what is read of it, and each fault with its words [LS2, LS-N2]. */
import { assertEquals } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import {
  decodeListQuery,
  expectParameters,
} from "../../../../src/platform/guards/lists/list_query_schema.ts";

const STATUSES = ["Pending", "Rejected"];
const NAMES = "from, until, status, end-to-end-id, after";
type Query = Readonly<Record<string, string[]>>;

function told(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof ApiError ? [error.reason, error.parts] : error;
  }
}

const decoded = (query: Query): unknown => told(() => decodeListQuery(query, STATUSES));
const rejected = (...faults: readonly unknown[]): unknown => ["resource.invalid_fields", { faults }];
const invalid = (path: string, must: string): unknown => ({
  code: "Field.Invalid",
  path,
  message: `Must be ${must}.`,
});
const unexpected = (path: string, known: string): unknown => ({
  code: "Field.Unexpected",
  path,
  message: `Must be omitted. The parameters of this request are ${known}.`,
});

const ALL = {
  from: 0,
  until: Number.MAX_SAFE_INTEGER,
  status: undefined,
  endToEndId: undefined,
  after: undefined,
};
const [EARLY, LATE] = ["2040-01-15T00:00:00Z", "2040-01-15T00:00:01+00:00"];
const AT = Date.UTC(2040, 0, 15);
const AFTER = "000001800000000-0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00";

Deno.test("each parameter is read, and without one all entries are asked for", () => {
  assertEquals(decoded({}), ALL);
  assertEquals(decoded({ from: [EARLY], until: [LATE] }), { ...ALL, from: AT, until: AT + 1000 });
  assertEquals(decoded({ status: ["Rejected"] }), { ...ALL, status: "Rejected" });
  for (const id of ["x", "x".repeat(35)]) {
    assertEquals(decoded({ "end-to-end-id": [id] }), { ...ALL, endToEndId: id });
  }
  assertEquals(decoded({ after: [AFTER] }), { ...ALL, after: AFTER });
});

Deno.test("each malformed, repeated or unknown parameter is a fault of its own, and at most 20 are told", () => {
  const time =
    "a date and time with an offset, such as 2040-01-15T00:00:00Z (the + of an offset is %2B in a URL)";
  const faults = {
    from: [["2040-01-15"], invalid("from", time)],
    until: [["soon"], invalid("until", time)],
    status: [["rejected"], invalid("status", "one of: Pending, Rejected")],
    "end-to-end-id": [["x".repeat(36)], invalid("end-to-end-id", "an end-to-end id of 1 to 35 characters")],
    after: [[AFTER.slice(1)], invalid("after", "the After of an earlier page")],
  } as const;
  for (const [name, [values, fault]] of Object.entries(faults)) {
    assertEquals(decoded({ [name]: [...values] }), rejected(fault));
  }
  const all = Object.fromEntries(Object.entries(faults).map(([name, [values]]) => [name, [...values]]));
  assertEquals(decoded(all), rejected(...Object.values(faults).map(([, fault]) => fault)));
  assertEquals(decoded({ "end-to-end-id": [""] }), rejected(faults["end-to-end-id"][1]));
  const order = invalid("until", "later than from");
  for (const until of [EARLY, "2040-01-14T23:59:59Z"]) {
    assertEquals(decoded({ from: [EARLY], until: [until] }), rejected(order));
  }
  const once = { code: "Field.Invalid", path: "status", message: "Must be sent once." };
  assertEquals(decoded({ status: ["Pending", "Pending"] }), rejected(once));
  const names = ["Status", "x".repeat(64), "x".repeat(65), "a b", ""];
  const shown = ["Status", "x".repeat(64), "query", "query", "query"];
  for (const [at, name] of names.entries()) {
    assertEquals(decoded({ [name]: ["1"] }), rejected(unexpected(shown[at] ?? "", NAMES)));
  }
  const letters = Array.from({ length: 25 }, (_, at) => String.fromCharCode(97 + at));
  const many: Query = Object.fromEntries(letters.map((name) => [name, ["1"]]));
  assertEquals(decoded(many), rejected(...letters.slice(0, 20).map((name) => unexpected(name, NAMES))));
});

Deno.test("a request that has other parameters takes these alone, each once", () => {
  const expected = (query: Query): unknown => told(() => expectParameters(query, ["bank", "lang"]));
  assertEquals([expected({}), expected({ bank: ["a"], lang: ["b"] })], [undefined, undefined]);
  assertEquals(expected({ from: ["a"] }), rejected(unexpected("from", "bank, lang")));
  const once = { code: "Field.Invalid", path: "bank", message: "Must be sent once." };
  assertEquals(expected({ bank: ["a", "b"] }), rejected(once));
  const letters = Array.from({ length: 25 }, (_, at) => String.fromCharCode(97 + at));
  const many: Query = Object.fromEntries(letters.map((name) => [name, ["1"]]));
  assertEquals(
    expected(many),
    rejected(...letters.slice(0, 20).map((name) => unexpected(name, "bank, lang"))),
  );
});
