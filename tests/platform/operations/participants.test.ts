/** `GET /operations/participants`. */
import { assertEquals } from "@std/assert";
import { bodyOf, rejectionOf } from "testing/answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import type { Participants } from "testing/operation_answers.ts";
import { changeAs } from "testing/operators.ts";

async function names(env: Environment, query = ""): Promise<readonly string[]> {
  const answer = await env.asOperator(`/operations/participants${query}`);
  assertEquals(answer.status, 200);
  const { Data } = await bodyOf<Participants>(answer);
  return Data.Participant.map(({ OrganisationName }) => OrganisationName).toSorted();
}

Deno.test("operators list and search the registered participants", async () => {
  await using env = await openEnvironment();
  const all = ["Bank A plc", "Bank B plc", "Example Shop Ltd", "Other Shop Ltd"];
  assertEquals(await names(env), all);
  assertEquals(await names(env, "?search=bank"), ["Bank A plc", "Bank B plc"]);
  assertEquals(await names(env, "?role=ASPSP"), ["Bank A plc", "Bank B plc"]);
  assertEquals(await names(env, `?search=${env.tpp.clientId.slice(4).toUpperCase()}`), ["Example Shop Ltd"]);
  assertEquals(await names(env, "?role=PISP&search=bank"), []);
  const ids = ["BANKA", env.tpp.clientId, "BANKZ", "no id"].join();
  assertEquals(await names(env, `?${new URLSearchParams({ ids })}`), ["Bank A plc", "Example Shop Ltd"]);
  assertEquals(await names(env, `?${new URLSearchParams({ ids, role: "PISP" })}`), ["Example Shop Ltd"]);
  assertEquals(await names(env, `?${new URLSearchParams({ ids, search: "bank" })}`), ["Bank A plc"]);
  const [first, second] = [env.tpp, env.otherTpp, env.bankA, env.bankB].map(({ clientId }) => clientId)
    .toSorted();
  assertEquals((await names(env, `?after=${first}`)).length, 3);
  assertEquals((await names(env, `?after=${second}`)).length, 2);
  for (
    const query of [
      `?ids=${"BANKA,".repeat(100)}`,
      `?ids=BANKA&after=${first}`,
      "?role=x",
      "?after=%20",
      `?search=${"x".repeat(101)}`,
    ]
  ) {
    const answer = await env.asOperator(`/operations/participants${query}`);
    assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_request"], query);
  }
});

Deno.test("the list has each participant's state in the directory and here", async () => {
  await using env = await openEnvironment();
  await changeAs(env, "/organisations/BANKA/block", { Reason: "Fraud is suspected." });
  const states = async (): Promise<readonly unknown[]> => {
    const { Data } = await bodyOf<Participants>(env.asOperator("/operations/participants?role=ASPSP"));
    return Data.Participant
      .toSorted((a, b) => a.OrganisationName.localeCompare(b.OrganisationName))
      .map((one) => [one.DirectoryStatus, one.OrganisationBlocked, one.SoftwareBlocked]);
  };
  assertEquals(await states(), [["active", true, false], ["active", false, false]]);
  env.network = () => Promise.resolve(new Response(null, { status: 503 }));
  env.now += 1_000_000;
  assertEquals(await states(), [["unknown", true, false], ["unknown", false, false]]);
});
