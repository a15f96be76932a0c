/** Every server module of the conformance suite's plans has a test here that stands for it, or a reason why not. */
import { assertEquals } from "@std/assert";
import { namesInSource } from "../../scripts/upkeep/requirements/names.ts";
import { listFiles, readSource } from "../../scripts/upkeep/sources/source_files.ts";
import { REGISTRATION_PLAN, SECURITY_PROFILE_PLAN, SIGNED_REQUEST_MODULES, STANDINGS } from "./modules.ts";
import { steps } from "support/steps.ts";

Deno.test("Each module of the plans has one standing, and no other module has one", () => {
  const planned = [...SECURITY_PROFILE_PLAN, ...SIGNED_REQUEST_MODULES, ...REGISTRATION_PLAN];
  assertEquals(Object.keys(STANDINGS).toSorted(), planned.toSorted());
  assertEquals(new Set(planned).size, planned.length);
});

Deno.test("Each module is stood for by ids that tests bear, or left out for a reason", async (t) => {
  const borne = new Set(namesInSource(testFiles()).flatMap(({ ids }) => ids));
  await steps(t, STANDINGS, (standing) => {
    const ids = "ids" in standing ? standing.ids : [];
    const reason = "leftOut" in standing ? standing.leftOut : "";
    assertEquals(ids.length > 0, reason === "", "either tests or a reason");
    assertEquals(ids.filter((id) => !borne.has(id)), [], "ids that no test bears");
  });
});

Deno.test("No test names a module that is in no plan", () => {
  const modules = new Set<string>(Object.keys(STANDINGS));
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
