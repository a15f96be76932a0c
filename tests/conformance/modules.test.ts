/** Every server module of the conformance suite's plans has tests with its cases, or a reason why not. */
import { assertEquals } from "@std/assert";
import { namesInSource } from "../../scripts/upkeep/requirements/names.ts";
import { listFiles, readSource } from "../../scripts/upkeep/sources/source_files.ts";
import { REGISTRATION_PLAN, SECURITY_PROFILE_PLAN, SIGNED_REQUEST_MODULES, STANDINGS } from "./modules.ts";
import { stepsOf } from "support/steps.ts";

const PLANNED = [...SECURITY_PROFILE_PLAN, ...SIGNED_REQUEST_MODULES, ...REGISTRATION_PLAN];

Deno.test("Each module is named by a test, or has ids that tests name, or a reason to be left out", async (t) => {
  assertEquals(new Set(PLANNED).size, PLANNED.length);
  const named = new Set(namesInSource(testFiles()).flatMap(({ ids }) => ids));
  await stepsOf(t, PLANNED, (name) => name, (name) => {
    const standing = STANDINGS[name] ?? [name];
    assertEquals(standing.length > 0, true);
    if (typeof standing !== "string") assertEquals(standing.filter((id) => !named.has(id)), []);
  });
});

Deno.test("No test names a module that is in no plan", () => {
  const modules = new Set<string>(PLANNED);
  const named = namesInSource(testFiles().filter(({ path }) => path.startsWith("tests/conformance/")))
    .flatMap(({ ids }) => ids).filter((id) => /^[A-Z][a-z]|^PAR[A-Z]|^DCR/.test(id));
  assertEquals(named.filter((name) => !modules.has(name)), []);
});

/** Files of tests that run; the tools that look for names have examples in theirs. */
function testFiles(): ReturnType<typeof readSource>[] {
  return listFiles("tests", [".ts", ".tsx"]).filter((path) =>
    path !== "tests/conformance/requirements.test.ts"
  )
    .map(readSource);
}
