/** The start in production warns if customers cannot see whose pages they are on. */
import { assertEquals } from "@std/assert";
import { warnIfUnnamed } from "../../../src/platform/process/named_operator.ts";

function warned(environment: "Production" | "Sandbox", operator: object): readonly unknown[] {
  const lines: unknown[] = [];
  const config = { environment, operator } as Parameters<typeof warnIfUnnamed>[0];
  warnIfUnnamed(config, { warn: (event, fields) => void lines.push([event, fields]) });
  return lines;
}

Deno.test("a start in production names the missing variables of the operator, and no other start does", () => {
  const all = ["PLATFORM_OPERATOR_NAME", "PLATFORM_OPERATOR_LOGO", "PLATFORM_OPERATOR_SUPPORT"];
  assertEquals(warned("Production", {}), [["platform.operator_unnamed", { missing: all.join(" ") }]]);
  assertEquals(warned("Production", { name: "Hub", support: {} }), [
    ["platform.operator_unnamed", { missing: "PLATFORM_OPERATOR_LOGO" }],
  ]);
  assertEquals(warned("Production", { name: "Hub", logo: {}, support: {} }), []);
  assertEquals(warned("Sandbox", {}), []);
});
