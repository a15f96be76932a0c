import "reflect-metadata";
import { assertEquals, assertRejects } from "@std/assert";
import type { DirectoryHistory, DirectoryRecord } from "testing/directory_answers.ts";
import { ADMIN_TOKEN } from "testing/directory_environment.ts";
import { failure, json, onboardShop, openDesk } from "./participant_desk.ts";

Deno.test("participant set-status and show speak for the directory, the credential's name in its history [E3]", async () => {
  await using desk = await openDesk();
  await onboardShop(desk);
  const { org_id } = await json(`${desk.folder}/participants/my-shop/participant.json`);
  const printed = await desk.run("set-status --name my-shop --software Inactive --reason holidays");
  assertEquals(printed, `${org_id} is Active, its software Inactive.`);
  await failure(
    desk.run("set-status --name my-shop --software Asleep --reason x"),
    "status: must be Active, Inactive, Revoked",
  );
  const record = JSON.parse(await desk.run(`show --org-id ${org_id}`)) as DirectoryRecord;
  assertEquals(record.software_client_status, "Inactive");
  const shown = await desk.run("show --name my-shop --history");
  const history = JSON.parse(shown) as DirectoryHistory["history"];
  assertEquals(history.map(({ who }) => who), ["ana", "ana"]);
});

Deno.test("participant onboard --example is accepted by a sandbox's directory, for both roles [E1]", async () => {
  await using desk = await openDesk();
  for (const role of ["PISP", "ASPSP"]) {
    const example = JSON.parse(await desk.run(`onboard --example ${role}`));
    await desk.run(`onboard --name ${role.toLowerCase()} --details -`, { input: example });
  }
  assertEquals((await desk.environment.get("/participants")).body.length, 2);
});

Deno.test("participant takes the directory from flags before environment before the sandbox's endpoints [E3]", async () => {
  await using desk = await openDesk();
  const env = { DIRECTORY_URL: "http://localhost:1", DIRECTORY_ADMIN_TOKEN: ADMIN_TOKEN };
  await failure(
    desk.run("show --org-id NOBODY", { env }),
    "The directory at http://localhost:1 cannot be reached",
  );
  await failure(desk.run(`show --org-id NOBODY --directory-url ${desk.url}`, { env }), "(404 not_found)");
  await failure(desk.run("show --org-id NOBODY"), "(404 not_found)");
  await failure(
    desk.run(`show --org-id NOBODY --admin-token ${"x".repeat(40)} --directory-url ${desk.url}`),
    "(401 invalid_token)",
  );
});

Deno.test("participant never sends a sandbox's token elsewhere, nor any token in the clear [E3]", async () => {
  await using desk = await openDesk();
  await failure(
    desk.run("show --org-id X1 --directory-url https://other.example"),
    "The administration token is missing",
  );
  await failure(
    desk.run("show --org-id X1", { env: { DIRECTORY_ADMIN_TOKEN: "x" } }),
    "The directory's address is missing",
  );
  const env = { DIRECTORY_URL: "http://directory.example", DIRECTORY_ADMIN_TOKEN: "x" };
  await failure(desk.run("show --org-id X1", { env }), "must be https");
});

const FAILURES: readonly [line: string, words: string][] = [
  ["frobnicate", "There is no command frobnicate"],
  ["show", "--name or --org-id is missing."],
  ["show --name ../../etc", "--name must be 1 to 64 letters, digits, - or _."],
  ["show --nome x", "Unknown option '--nome'"],
  ["show extra --name x", "Unexpected argument 'extra'"],
  ["show --name nobody", "has no participant; onboard it first"],
  ["onboard --name x", "--details is missing; --help lists the options."],
  ["onboard --name x --details /nowhere.json", "The file /nowhere.json cannot be read."],
  ["onboard --name x --details -", "The file - is not JSON."],
  ["onboard --example AISP", "--example must be PISP or ASPSP."],
  ["set-status --org-id X1 --reason y", "set-status needs one of --software and --organisation."],
];

for (const [line, words] of FAILURES) {
  Deno.test(`participant ${line}: fails in one sentence [E3]`, async () => {
    await using desk = await openDesk();
    await failure(desk.run(line), words);
  });
}

Deno.test("participant onboard leaves nothing behind when the directory rejects [E1]", async () => {
  await using desk = await openDesk();
  await failure(
    desk.run("onboard --name x --details -", { input: { role: "PISP" } }),
    "The directory rejected (400 invalid_request): org_name: must be text",
  );
  await assertRejects(() => Deno.stat(`${desk.folder}/participants/x`), Deno.errors.NotFound);
  await onboardShop(desk);
  await failure(onboardShop(desk), "has a participant already");
  assertEquals((await desk.environment.get("/participants")).body.length, 1);
});
