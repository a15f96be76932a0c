/** `deno task directory` as an operator runs it: what it refuses to start with, who may open its files, its two listeners. */
import { assert, assertEquals } from "@std/assert";
import { openDirectoryFixture, startDirectory } from "support/directory_process.ts";
import { freePort } from "../../../scripts/command_line/free_ports.ts";
import type { ServedPlatform } from "testing/served_platform.ts";
import { running } from "./running_directory.ts";

async function faultsOf(process: ServedPlatform): Promise<string[]> {
  const { code, stderr } = await process.ended;
  assertEquals(code, 1, stderr);
  assertEquals(process.lines, [], "the process started something");
  const [first, ...lines] = stderr.trimEnd().split("\n");
  assertEquals(first, "The directory's configuration is not usable:", stderr);
  return lines.map((line) => line.replace(/^ {2}- /, ""));
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
  await Deno.writeTextFile(`${fixture.folder}/.env`, "DIRECTORY_ENVIRONMENT=Production\n", { mode: 0o640 });
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
