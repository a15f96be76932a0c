/** Redirect URLs that can carry an answer. */
import { assertEquals } from "@std/assert";
import { addedParameterIn } from "../../../src/base/values/redirect_url.ts";

Deno.test("addedParameterIn finds the parameters that the platform adds to the URL of a role, and no others [DC9, PN11]", () => {
  const at = (query: string, role: "PISP" | "ASPSP" = "PISP"): string | undefined =>
    addedParameterIn(`https://tpp.example/cb?${query}`, role);
  for (const name of ["code", "state", "iss", "error", "error_description", "error_uri", "response"]) {
    assertEquals([at(`from=bank&${name}=1`), at(name), at(`${name}=1`, "ASPSP")], [name, name, undefined]);
  }
  assertEquals([at("%63ode=1"), at("Code=1"), at("codes=1"), at("x=code")], [
    "code",
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals([at("oAuthUrl=1"), at("oAuthUrl=1", "ASPSP")], [undefined, "oAuthUrl"]);
});
