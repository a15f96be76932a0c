/** `deno task directory` as an operator runs it: what it refuses to start with, who may open its files, its two listeners. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DIRECTORY_VARIABLES } from "../../src/directory/config.ts";
import { type DirectoryFixture, openDirectoryFixture, startDirectory } from "support/directory_process.ts";
import { software, thirdParty } from "testing/directory_environment.ts";
import { freePort, type ServedPlatform, startCommand, taskCommand } from "testing/served_platform.ts";

async function faultsOf(process: ServedPlatform): Promise<string[]> {
  const { code, stderr } = await process.ended;
  assertEquals(code, 1, stderr);
  assertEquals(process.lines, [], "the process started something");
  const [first, ...lines] = stderr.trimEnd().split("\n");
  assertEquals(first, "The directory's configuration is not usable:", stderr);
  return lines.map((line) => line.replace(/^ {2}- /, ""));
}

async function running(
  fixture: DirectoryFixture,
  test: (process: ServedPlatform) => Promise<void>,
): Promise<void> {
  const process = await fixture.start();
  try {
    await process.ready;
    await test(process);
  } finally {
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0);
  }
}

async function statusOf(url: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  await answer.body?.cancel();
  return answer.status;
}

function bearer(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}

Deno.test("directory without configuration names every variable that has no default, and what to set [F3]", async () => {
  const folder = await Deno.makeTempDir();
  const faults = await faultsOf(await startDirectory(folder, {}));
  assertEquals(faults.map((fault) => fault.split(":")[0]), [
    "DIRECTORY_ISSUER",
    "DIRECTORY_STORE_URL",
    "DIRECTORY_ADMINISTRATORS",
    "DIRECTORY_CA_CERT",
    "DIRECTORY_CA_KEY",
    "DIRECTORY_SIGNING_KEYS",
  ]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("directory rejects files that others may open, and names each of them in one rejection [F3]", async () => {
  await using fixture = await openDirectoryFixture();
  const { own, env } = fixture;
  await Deno.writeTextFile(`${own}/directory.kv`, "", { mode: 0o644 });
  for (const name of ["administrators.json", "ca.key.pem", "signing-keys.json", "directory.kv"]) {
    await Deno.chmod(`${own}/${name}`, 0o640);
  }
  await Deno.chmod(`${own}/ca.pem`, 0o664);
  await Deno.writeTextFile(`${fixture.folder}/.env`, "ENVIRONMENT=Production\n", { mode: 0o640 });
  const open = (variable: string): string =>
    `${variable}: group or others may open ${env[variable]}; chmod 600 ${env[variable]}`;
  assertEquals((await faultsOf(await fixture.start())).sort(), [
    ".env: group or others may open .env; chmod 600 .env",
    open("DIRECTORY_ADMINISTRATORS"),
    "DIRECTORY_CA_CERT: group or others may write .data/directory/ca.pem; chmod 644 .data/directory/ca.pem",
    open("DIRECTORY_CA_KEY"),
    open("DIRECTORY_SIGNING_KEYS"),
    open("DIRECTORY_STORE_URL"),
  ]);
});

Deno.test("directory rejects a folder in which others could exchange its files [F3]", async () => {
  await using fixture = await openDirectoryFixture();
  await Deno.chmod(fixture.own, 0o777);
  const faults = await faultsOf(await fixture.start());
  assertEquals(faults.length, 5, faults.join("\n"));
  for (const fault of faults) assert(fault.includes("may write to the folder of"), fault);
});

Deno.test("directory rejects a list that does not exist, one listener for all, and ports that are taken [F3]", async () => {
  await using fixture = await openDirectoryFixture();
  const port = String(freePort());
  assertEquals(
    await faultsOf(
      await fixture.start({
        DIRECTORY_PORT: port,
        DIRECTORY_ADMIN_PORT: port,
        DIRECTORY_ADMINISTRATORS: ".data/directory/none.json",
      }),
    ),
    [
      "DIRECTORY_ADMIN_PORT: must be another port than DIRECTORY_PORT",
      "DIRECTORY_ADMINISTRATORS: the file .data/directory/none.json cannot be read by this process (deno task directory-admin add makes it)",
    ],
  );
  await running(fixture, async () => {
    const faults = await faultsOf(await fixture.start());
    assertEquals(faults.map((fault) => fault.split(":")[0]), [
      "DIRECTORY_PORT",
      "DIRECTORY_ADMIN_PORT",
      "DIRECTORY_STORE_URL",
    ]);
  });
});

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
  const before = Deno.umask(0); // children inherit it
  try {
    await fixture.admin("add --name luis");
    await running(fixture, () => Promise.resolve());
  } finally {
    Deno.umask(before);
  }
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

Deno.test("directory may read the variables that it reads, and no others; its files are in named places [F7]", async () => {
  const command = await taskCommand("directory");
  const allowed = command.find((word) => word.startsWith("--allow-env"))?.split("=")[1]?.split(",");
  assertEquals(allowed?.sort(), [...DIRECTORY_VARIABLES].sort());
  for (const right of ["--allow-read", "--allow-write"]) {
    assert(command.find((word) => word.startsWith(right))?.startsWith(`${right}=`), right);
  }
});
