/** How ids are found in the names of tests, and when the command that looks for them fails. */
import { assert, assertEquals } from "@std/assert";
import { standing } from "../../scripts/upkeep/requirements/main.ts";
import { readRequirements, requirementsIn } from "../../scripts/upkeep/requirements/contract.ts";
import { idsIn, namesInReport, namesInSource } from "../../scripts/upkeep/requirements/names.ts";

Deno.test("idsIn takes single ids, lists, ranges and modules, and nothing else in brackets", () => {
  const names = {
    "POST x [XY-N11]": ["XY-N11"],
    "x [XY-N1, XY-N2][XYZ3]": ["XY-N1", "XY-N2", "XYZ3"],
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
    namesInSource([{ path: "tests/x.test.ts", text }]).map(({ where, ids }) => [where, ...ids]),
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

const CONTRACT = {
  path: "docs/contract/x.md",
  text: [
    "# X",
    "",
    "- an item that is no row, because it stands under no kind",
    "",
    "### Rules",
    "",
    '- <a id="xy1"></a>**XY1** A rule that',
    "  goes on. _RFC 9449 §4.3; choice._",
    '- <a id="xy2"></a>**XY2** A rule. Checked by XY-N1, XY-N2. _interface._',
    '- <a id="xy3"></a>**XY3** Not applicable: no such endpoint. _choice._',
    "",
    "### Negative cases",
    "",
    "All answer 400.",
    "",
    '- <a id="xy-n1"></a>**XY-N1** Wrong: 400. _choice._',
    '- <a id="xy-n2"></a>**XY-N2** Accepted: odd. _choice._',
  ].join("\n"),
};

const DECISION = {
  path: "docs/decisions/c-one.md",
  text:
    '# C. Some\n\n## <a id="c7"></a>C7: One\n\n**Context.** A.\n\n**Choice.** B.\n\n**Consequence.** D.\n\nChecked by\nXY-N1.\n',
};

Deno.test("requirementsIn reads rows, their kind, their proof, and decisions", () => {
  const { found, faults } = requirementsIn([CONTRACT, DECISION, {
    path: "docs/contract/README.md",
    text: "- x",
  }]);
  assertEquals(faults, []);
  assertEquals(
    found.map(({ id, kind, isAccepted, where, checkedBy, inapplicable }) => [
      id,
      kind,
      isAccepted,
      where,
      checkedBy.join(" "),
      inapplicable ?? "",
    ]),
    [
      ["XY1", "rule", false, "docs/contract/x.md:7", "", ""],
      ["XY2", "rule", false, "docs/contract/x.md:9", "XY-N1 XY-N2", ""],
      ["XY3", "rule", false, "docs/contract/x.md:10", "", "no such endpoint"],
      ["XY-N1", "negative", false, "docs/contract/x.md:16", "", ""],
      ["XY-N2", "negative", true, "docs/contract/x.md:17", "", ""],
      ["C7", "decision", false, "docs/decisions/c-one.md:3", "XY-N1", ""],
    ],
  );
});

Deno.test("requirementsIn says what it cannot read, and what is stated twice", () => {
  const rows = (...items: readonly string[]) => ({
    path: "docs/contract/y.md",
    text: ["### Rules", ...items].join("\n"),
  });
  const planted: Record<string, readonly [{ path: string; text: string }, string]> = {
    "no anchor": [rows("- **XY9** Text. _choice._"), "is not a row"],
    "no source": [rows('- <a id="xy9"></a>**XY9** Text.'), "is not a row"],
    "another anchor": [rows('- <a id="xy8"></a>**XY9** Text. _choice._'), "another anchor"],
    "twice": [rows('- <a id="xy1"></a>**XY1** Text. _choice._'), "XY1 is stated twice"],
    "another page": [{ ...DECISION, path: "docs/decisions/d-one.md" }, "is not a decision"],
    "another anchor of a decision": [
      { ...DECISION, text: DECISION.text.replace("c7", "c8") },
      "is not a decision",
    ],
    "no consequence": [
      { ...DECISION, text: DECISION.text.replace("**Consequence.**", "Then") },
      "has no Consequence",
    ],
  };
  for (const [name, [page, sentence]] of Object.entries(planted)) {
    const { faults } = requirementsIn([CONTRACT, page]);
    assertEquals(faults.map((fault) => fault.includes(sentence)), [true], `${name}: ${faults.join("; ")}`);
  }
});

Deno.test("requirements reports what has no test, failed, was not run, is excused, or does not exist", () => {
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
    test("XY-N99"),
    test("OTHER-1"),
  ];
  const requirement = (id: string, more: object = {}) => ({
    id,
    kind: "negative" as const,
    isAccepted: false,
    where: "docs/contract/x.md:1",
    checkedBy: [],
    ...more,
  });
  const found = [
    ...["XY-N1", "XY-N2", "XY-N3", "XY-N4", "XY-N5"].map((id) => requirement(id)),
    ...["XY-N6", "XY-N7"].map((id) => requirement(id, { inapplicable: "reasons" })),
    requirement("XY1", { checkedBy: ["XY-N1", "XY-N4"] }),
    requirement("XY2", { checkedBy: ["XY-N1", "XY-N5", "XY-N8"] }),
  ];
  const { covered, gaps } = standing(tests, { found, faults: ["something cannot be read"] });
  assertEquals([...covered.keys()], ["XY-N1", "XY-N2", "XY-N3", "XY-N4", "XY-N6"]);
  assertEquals(gaps, [
    "something cannot be read",
    "XY-N2 fails: test of XY-N2",
    "XY-N3 was not run: test of XY-N3",
    "XY-N5 has no test",
    "XY-N6 is not applicable, and has a test",
    "XY2 is checked by XY-N5, XY-N8, which has no test of its own",
    "XY-N99 does not exist: tests/x.test.ts:1",
  ]);
});

Deno.test("the contract and the decisions can be read, and no row of the former count is lost", () => {
  const { found, faults } = readRequirements();
  assertEquals(faults, []);
  const counted = (kind: string): number => found.filter((requirement) => requirement.kind === kind).length;
  assert(counted("rule") + counted("decision") >= 209, "rules and decisions");
  assert(counted("negative") >= 359, "negative cases");
  const ids = new Set(found.map(({ id }) => id));
  const samples = ["FAPI-D24", "CA16", "G10", "CA-N1", "DC-N27", "J38", "H23", "CON-01", "JWS-16", "VER-01"];
  assertEquals(samples.filter((id) => !ids.has(id)), []);
});
