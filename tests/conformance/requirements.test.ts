/** How ids are found in the names of tests, and when the command that looks for them fails. */
import { assertEquals } from "@std/assert";
import { standing } from "../../scripts/requirements/main.ts";
import { FAMILIES, requiredIds } from "../../scripts/requirements/ids.ts";
import { idsIn, namesInReport, namesInSource } from "../../scripts/requirements/names.ts";
import { sourceFile } from "../../scripts/checks/source_files.ts";

Deno.test("idsIn takes single ids, lists, ranges and modules, and nothing else in brackets", () => {
  const names = {
    "POST x [XY-N11]": ["XY-N11"],
    "x [XY-N1, XY-N2][Z3]": ["XY-N1", "XY-N2", "Z3"],
    "x [XYZ-09..11]": ["XYZ-09", "XYZ-10", "XYZ-11"],
    "x [XY-N1..N3]": ["XY-N1", "XY-N2", "XY-N3"],
    "x [ParWithSomething] [XY-N2]": ["ParWithSomething", "XY-N2"],
    "x XY-N2 [xy-n2] [2.2] [SSRF] [a, b] []": [],
    "x [XY-N9..7]": [],
  };
  for (const [name, ids] of Object.entries(names)) assertEquals(idsIn(name), ids, name);
});

Deno.test("namesInSource sees strings and pieces of templates, and no comments, code or expressions", () => {
  const text = [
    "// [XY-N1]",
    "/* [XY-N2] */",
    'Deno.test("one [XY-N3]", () => {});',
    "const rows = [['two [XY-N4]', [XY5]], [`three ${rows[XY6]} [XY-N7]`]];",
    "const four = `${first}/[XY-N8]`; // [XY-N9]",
    "const five = `[XY-N10] ${/[`\"']/.test(rows) ? `[XY-N11]` : 'x'} six`;",
    "const seven = x / y; const eight = 'it\\'s [XY-N12]';",
  ].join("\n");
  assertEquals(
    namesInSource([sourceFile("tests/x.test.ts", text)]).map(({ where, ids }) => [where, ...ids]),
    [
      ["tests/x.test.ts:3", "XY-N3"],
      ["tests/x.test.ts:4", "XY-N4"],
      ["tests/x.test.ts:4", "XY-N7"],
      ["tests/x.test.ts:5", "XY-N8"],
      ["tests/x.test.ts:6", "XY-N10"],
      ["tests/x.test.ts:6", "XY-N11"],
      ["tests/x.test.ts:7", "XY-N12"],
    ],
  );
});

Deno.test("namesInReport gives a step its own ids and each test its outcome", () => {
  const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="4" failures="1" errors="0" time="0.016">
  <testsuite name="./tests/x.test.ts" tests="4" disabled="1" errors="0" failures="1">
    <testcase name="a &gt; b &quot;c&quot; [XY-N1]" classname="./tests/x.test.ts" time="0.005" line="1" col="6">
    </testcase>
    <testcase name="d [XY-N2]" classname="./tests/x.test.ts" time="0.000" line="2" col="6">
      <skipped/>
    </testcase>
    <testcase name="a &gt; b &quot;c&quot; [XY-N1] &gt; e [XY-N3]" classname="./tests/x.test.ts" time="0" line="3" col="45">
      <failure message="Uncaught Error: x">Error: &lt;skipped [XY-N4]</failure>
    </testcase>
    <testcase name="a &gt; b &quot;c&quot; [XY-N1] &gt; f" classname="./tests/x.test.ts" time="0" line="4" col="45"/>
  </testsuite>
</testsuites>`;
  assertEquals(namesInReport(report), [
    { name: 'a > b "c" [XY-N1]', where: "tests/x.test.ts:1", ids: ["XY-N1"], outcome: "passed" },
    { name: "d [XY-N2]", where: "tests/x.test.ts:2", ids: ["XY-N2"], outcome: "skipped" },
    { name: 'a > b "c" [XY-N1] > e [XY-N3]', where: "tests/x.test.ts:3", ids: ["XY-N3"], outcome: "failed" },
  ]);
});

Deno.test("requirements reports what has no test, failed, was not run, is excused for nothing, or does not exist", () => {
  const test = (id: string, outcome?: "passed" | "failed" | "skipped") => ({
    name: `test of ${id}`,
    where: "tests/x.test.ts:1",
    ids: [id],
    ...(outcome === undefined ? {} : { outcome }),
  });
  const tests = [
    test("XY-N1"),
    test("XY-N2", "passed"),
    test("XY-N2", "failed"),
    test("XY-N3", "skipped"),
    test("XY-N4", "skipped"),
    test("XY-N4", "passed"),
    test("XY-N6"),
    test(["H", "99"].join("")),
  ];
  const required = ["XY-N1", "XY-N2", "XY-N3", "XY-N4", "XY-N5", "XY-N6", "XY-N7"];
  const inapplicable = ["XY-N6", "XY-N7", "XY-N8"].map((id) => ({ id, because: "reasons" }));
  const { covered, gaps } = standing(tests, required, inapplicable);
  assertEquals([...covered.keys()], ["XY-N1", "XY-N2", "XY-N3", "XY-N4", "XY-N6"]);
  assertEquals(gaps, [
    "XY-N2 fails: test of XY-N2",
    "XY-N3 was not run: test of XY-N3",
    "XY-N5 has no test",
    "XY-N6 is excused, and has a test",
    "XY-N8 is excused and not required",
    "H99 does not exist: tests/x.test.ts:1",
  ]);
});

Deno.test("requirements counts 209 rules and 359 negative cases, each once", () => {
  const ids = requiredIds();
  assertEquals([ids.length, new Set(ids).size], [568, 568]);
  const rules = FAMILIES.filter(({ kind }) => kind === "rule").map(({ prefix, last }) =>
    `${prefix}1-${last}`
  );
  assertEquals(
    rules.join(" "),
    [
      "FAPI-D1-24 FAPI-G1-23 CA1-16 DP1-16 TC1-8 TA1-12 PA1-15 AZ1-16",
      "BR1-18 RS1-11 RP1-11 DC1-17 MD1-12 G1-10",
    ].join(" "),
  );
  assertEquals(
    ids.filter((id) => ["CA-N1", "DC-N27", "J38", "H23", "CON-01", "JWS-16", "VER-01"].includes(id)),
    [
      "CA-N1",
      "DC-N27",
      "J38",
      "H23",
      "CON-01",
      "JWS-16",
      "VER-01",
    ],
  );
});
