import { assert, assertEquals, assertRejects } from "@std/assert";
import { DIRECTORY_VARIABLES } from "../../../src/directory/process/config.ts";
import { openDirectoryFixture } from "support/directory_process.ts";
import { software, thirdParty } from "testing/directory_environment.ts";
import { inShell, startCommand, taskCommand } from "testing/served_platform.ts";
import { running } from "./running_directory.ts";

async function statusOf(url: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  await answer.body?.cancel();
  return answer.status;
}

function bearer(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}

Deno.test("the public listener has no path of administrators, and theirs has nothing else [E2] [E3]", async () => {
  await using fixture = await openDirectoryFixture();
  const { url, adminUrl, token } = fixture;
  await running(fixture, async () => {
    const redirects = { environment: "Production", redirect_uris: ["https://shop.example/callback"] };
    const body = JSON.stringify(await thirdParty([0, 1], { software: { ...software(), ...redirects } }));
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    assertEquals(await statusOf(`${url}/participants`, { method: "POST", headers, body }), 405);
    assertEquals(await statusOf(`${adminUrl}/participants`, { method: "POST", headers, body }), 201);
    for (
      const path of ["/participants/SHOP", "/participants/SHOP/history", "/participants/SHOP/certificates"]
    ) {
      assertEquals(await statusOf(`${url}${path}`, bearer(token)), 404, path);
    }
    assertEquals(await statusOf(`${adminUrl}/participants/SHOP/history`, bearer(token)), 200);
    for (const path of ["/jwks", "/ca.pem", "/participants/SHOP/jwks", "/"]) {
      assert([200, 303].includes(await statusOf(`${url}${path}`)), path);
      assertEquals(await statusOf(`${adminUrl}${path}`, bearer(token)), 404, path);
    }
  });
});

Deno.test("an administrator is added and revoked while the directory runs, and by name in the history [E3]", async () => {
  await using fixture = await openDirectoryFixture();
  const record = `${fixture.adminUrl}/participants/NOBODY`;
  await running(fixture, async (process) => {
    const luis = await fixture.admin("add --name luis");
    assertEquals(await statusOf(record, bearer(luis)), 404);
    await assertRejects(() => fixture.admin("add --name luis"), Error, "has a credential already");
    await fixture.admin("revoke --name luis");
    assertEquals(await statusOf(record, bearer(luis)), 401);
    assertEquals(await statusOf(record, bearer(fixture.token)), 404, "ana goes on");
    const again = await fixture.admin("add --name luis");
    assertEquals(await statusOf(record, bearer(again)), 404);
    assertEquals(await statusOf(record, bearer(luis)), 401, "the old token stays void");
    const printed = await fixture.admin("list");
    assertEquals(printed.split("\n").length, 3);
    const kept = await Deno.readTextFile(`${fixture.own}/administrators.json`);
    const said = process.lines.map((line) => JSON.stringify(line)).join("");
    for (const secret of [luis, again, fixture.token].map((token) => token.split(".")[1] ?? "")) {
      for (const text of [printed, kept, said]) assert(secret !== "" && !text.includes(secret));
    }
    await Deno.writeTextFile(`${fixture.own}/administrators.json`, "{");
    assertEquals(
      await statusOf(record, bearer(fixture.token)),
      503,
      "a list that cannot be read admits nobody",
    );
    assertEquals(await statusOf(`${fixture.url}/jwks`), 200);
  });
});

Deno.test("the directory's files are for their owner alone, whatever the umask [F3]", async () => {
  await using fixture = await openDirectoryFixture();
  const openToAll = 'umask 0; exec "$@"'; // in a shell: the umask of this process is that of other tests too
  const add = inShell(openToAll)([...await taskCommand("directory-admin"), "add", "--name", "luis"]);
  const added = await new Deno.Command(add[0] ?? "", {
    args: add.slice(1),
    cwd: fixture.folder,
    env: fixture.env,
  }).output();
  assert(added.success, new TextDecoder().decode(added.stderr));
  await running(fixture, () => Promise.resolve(), openToAll);
  for await (const { name } of Deno.readDir(fixture.own)) {
    const mode = ((await Deno.stat(`${fixture.own}/${name}`)).mode ?? 0) & 0o777;
    if (name !== "ca.pem") assertEquals(mode.toString(8), "600", name);
  }
  assertEquals(((await Deno.stat(fixture.own)).mode ?? 0) & 0o777, 0o700);
});

Deno.test("a running directory can neither read the environment nor write files [F7]", async () => {
  await using fixture = await openDirectoryFixture();
  const command = await taskCommand("directory");
  const main = command.at(-1) ?? "";
  await Deno.writeTextFile(
    `${fixture.folder}/watch.ts`,
    `void import(${JSON.stringify(`file://${main}`)});
    while (!await fetch("${fixture.url}/health").then(({ ok }) => ok, () => false)) await 0;
    const asked = [{ name: "env", variable: "DIRECTORY_ISSUER" }, { name: "write", path: ".data/directory" },
      { name: "write", path: ".data/directory/directory.kv" }, { name: "run" }, { name: "ffi" }, { name: "sys" }];
    const rights = asked.map((one) => Deno.permissions.querySync(one).state);
    console.log(JSON.stringify({ event: "rights", rights: rights.join(" ") }));`,
  );
  const watched = [...command.slice(0, -1), `${fixture.folder}/watch.ts`];
  const process = startCommand(watched, fixture.folder, fixture.env, "rights");
  await process.ready;
  const { rights } = await process.logged("rights");
  process.kill("SIGTERM");
  await process.ended;
  assertEquals(rights, Array(6).fill("prompt").join(" ")); // not granted; with --no-prompt it never will be
});

Deno.test("directory may read variables of its prefix, and no others; its files are in named places [F7]", async () => {
  const command = await taskCommand("directory");
  const allowed = command.find((word) => word.startsWith("--allow-env"))?.split("=")[1]?.split(",");
  assertEquals(allowed, ["DIRECTORY_*"]);
  assertEquals(DIRECTORY_VARIABLES.filter((name) => !name.startsWith("DIRECTORY_")), []);
  for (const right of ["--allow-read", "--allow-write"]) {
    assert(command.find((word) => word.startsWith(right))?.startsWith(`${right}=`), right);
  }
});
