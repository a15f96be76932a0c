/** References that do not resolve: which of the planted texts the rule finds, and which it accepts. */
import { assertEquals } from "@std/assert";
import { knownReferences, referenceViolations } from "../../../../scripts/upkeep/checks/references.ts";
import { readRequirements } from "../../../../scripts/upkeep/requirements/contract.ts";
import { ROOT } from "../../../../scripts/upkeep/sources/source_files.ts";

const INDEX = Deno.readTextFileSync(`${ROOT}docs/contract/README.md`);
const KNOWN = knownReferences(readRequirements().found, INDEX);

/** The lines with a violation. `~` keeps these texts from being references of this file. */
function broken(path: string, text: string): number[] {
  const lines = referenceViolations(path, text.replaceAll("~", ""), KNOWN)
    .map(({ where }) => Number(where.slice(path.length + 1)));
  return [...new Set(lines)];
}

function says(path: string, text: string): string[] {
  return referenceViolations(path, text.replaceAll("~", ""), KNOWN).map(({ sentence }) => sentence);
}

const DANGLING: Readonly<Record<string, string>> = {
  "a decision that does not exist": "// Decision C~99 says so.",
  "one of several decisions": "// Decisions A10, B~33.",
  "a row as a decision": "// Decision CA~14.",
  "a row that does not exist": "// As contract CA~99 has it.",
  "the end of a range": "// contract DC6-DC~60",
  "the end of a range in words": "// contract CT5 to CT~55",
  "a decision as a row": "// contract G~9",
  "an id without a word": "// One use (CA~99).",
  "an id of a negative case, in a string": 'const reason = "see DC-N~99";',
  "a letter and a number without a word": "// The deadline has passed (C~7).",
  "an id in the name of a test": 'Deno.test("rejects it [CA-N~99]", () => {});',
  "the end of a range in the name of a test": 'Deno.test("rejects it [CON-03..~99]", () => {});',
  "an id of unknown letters in the name of a test": 'Deno.test("rejects it [QQ-~1]", () => {});',
  "a decision in the name of a test": 'Deno.test("rejects it [G~99]", () => {});',
  "an id in a piece of a template": "const name = `takes ${word} [J~99]`;",
  "a list of checks elsewhere": "// check~list CA14",
  "lists of checks elsewhere": "// rows of the FAPI check~lists",
  "a section of a document elsewhere": "// open-banking refer~ence 3.3",
  "a heading of a document elsewhere": '// (inter~face "Limits")',
  "an endpoint by its number": "// Creates a consent (end~point 6).",
  "a table by its number": "// moves of ta~ble 2.1",
  "a section of what was decided": "// section B of the decis~ions",
  "an RFC that is not listed": "// RFC ~1149 §3",
  "a clause without its sign": "// RFC 9449 ~4.3",
  "a section in words": "// RFC 9449 sec~tion 7.1",
  "an appendix in words": "// RFC 7515 append~ix A.1",
  "a clause of FAPI without its document": "// FAPI ~5.3.2.1-8",
};

Deno.test("a dangling reference of each kind is found, in a program where it stands", async (t) => {
  for (const [name, line] of Object.entries(DANGLING)) {
    await t.step(name, () => assertEquals(broken("src/x.ts", `\n\n${line}\n`), [3], line));
  }
});

Deno.test("a reference that goes on in the next line of a comment is found where it stands", () => {
  assertEquals(broken("src/x.ts", "/**\n * As Decision\n * C~99 has it.\n */\n"), [3]);
  assertEquals(broken("src/x.ts", "// see RFC\n// 9449 ~4.3\n"), [1]);
  assertEquals(broken("docs/x.md", "as contract CA14,\nCA~99 and more\n"), [2]);
});

Deno.test("dangling references are found in Markdown, and in files that are not programs", () => {
  const lines = [
    "Decision C~99",
    "contract CA~99",
    "(CA~99)",
    "[G~99]",
    "CON-~99",
    "RFC ~1149",
    "RFC 9449 ~4.3",
    "FAPI ~5.2",
  ];
  for (const line of lines) {
    assertEquals(broken("docs/x.md", `\n${line}\n`), [2], line);
    assertEquals(broken("scripts/operators/proxy/x.conf", `\n# ${line}\n`), [2], line);
  }
});

Deno.test("references that resolve are accepted", () => {
  const good = [
    "// Decision C7; Decisions A10, B3 and G9; contract CA14, DC-N5; contract TA7-TA9; contract CT5 to CT10",
    "// RFC 9449 §4.3 check 9; RFC 8941 byte sequence; RFC 7515 App. F; FAPI 2.0 §5.3.2.1 item 8; RFC 6749",
    "// RS256 and PS256 are algorithms; a checked list; the interface of the store; S256; C0 controls",
    'Deno.test("takes it [CA14] [DC-N1, DC-N2] [CON-03..12] [G9] [HappyFlow] [2.2] [RFC 9449 §11.1]", () => {});',
    "const table = 'AZ28 BR29 CR22 RS22'; const row = rows[A~99]; interface Row {}",
    "// XY1 and [XY-N1] are examples",
  ].join("\n");
  assertEquals(says("src/x.ts", good), []);
  assertEquals(says("docs/x.md", "Decision C7, `contract CA14`, CON-05, TLS 1.3, H1 and A4 paper\n"), []);
});

Deno.test("a violation names the fix", () => {
  assertEquals(says("src/x.ts", "// Decision C~99, RFC 9449 ~4.3, (C~7)"), [
    "names C99, which is not a decision",
    "names a clause without its sign; write RFC 9449 §4.3",
    "names C7 alone; write Decision C7, or contract and the id of a row",
  ]);
});
