/**
 * Resources that a sandbox's start must not harm: ports and directories of others, data of another port, an incomplete
 * start.
 */
import "reflect-metadata";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { addressesAt, freeLoopbackHosts, readFirstPort } from "../../../src/sandbox/ecosystem/addresses.ts";
import { openAuthority, serverIdentity } from "../../../src/sandbox/ecosystem/authority.ts";
import { CannotStart } from "../../../src/sandbox/ecosystem/cannot_start.ts";
import { keyPairAt } from "../../../src/sandbox/ecosystem/key_files.ts";
import {
  type SandboxFiles,
  sandboxFiles,
  writeSecret,
} from "../../../src/sandbox/ecosystem/sandbox_files.ts";
import { markComplete, openState } from "../../../src/sandbox/ecosystem/sandbox_state.ts";
import { takeSite } from "../../../src/sandbox/ecosystem/site.ts";
import { X509Certificate } from "@peculiar/x509";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

async function inDirectory(test: (files: SandboxFiles) => Promise<void>): Promise<void> {
  await using directory = await openTemporaryFolder();
  await test(sandboxFiles(directory.path));
}

/** The first of six ports that were free just now. */
function findPort(): number {
  for (let port = 21_440; port < 60_000; port += 10) {
    try {
      freeLoopbackHosts(port);
      return port;
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error;
    }
  }
  throw new Error("no six free ports in a row");
}

async function makeData(files: SandboxFiles, text: string): Promise<void> {
  await Deno.mkdir(files.participants, { recursive: true });
  await Deno.writeTextFile(`${files.participants}/who`, text);
  await Deno.writeTextFile(files.platformStore, text);
  await Deno.writeTextFile(`${files.platformStore}-wal`, text);
}

Deno.test("addressesAt gives six ports in a row [F2]", () => {
  assertEquals(addressesAt(8440), {
    baseUrl: "https://localhost:8440",
    authUrl: "http://localhost:8441",
    directoryUrl: "http://localhost:8442",
    banksUrl: "http://localhost:8443",
    shopUrl: "http://localhost:8444",
    operationsUrl: "http://localhost:8445",
    registrationAudience: "http://localhost:8442/registration-audience",
  });
});

Deno.test("readFirstPort takes 1 to 65530 and nothing else", () => {
  assertEquals(["1", "8440", "65530"].map(readFirstPort), [1, 8440, 65_530]);
  for (const text of ["0", "-1", "65531", "99999", "84.4", "8440 ", "port", "0x20f8", "1e3"]) {
    assertThrows(() => readFirstPort(text), CannotStart, "SANDBOX_PORT");
  }
});

for (const offset of [0, 5]) {
  Deno.test(`takeSite names a used port (+${offset}) in one sentence and changes nothing`, () =>
    inDirectory(async (files) => {
      const port = findPort();
      using _other = Deno.listen({ hostname: "127.0.0.1", port: port + offset });
      await using running = new AsyncDisposableStack();
      const error = await assertRejects(() => takeSite({ port, dir: files.directory }, running), CannotStart);
      assert(error.message.startsWith(`Port ${port + offset} is already in use: `), error.message);
      assertEquals([...Deno.readDirSync(files.directory)].map(({ name }) => name), ["sandbox.lock"]);
    }));
}

Deno.test("takeSite rejects a second start on a directory, until the first has ended", () =>
  inDirectory(async (files) => {
    const site = { port: findPort(), dir: files.directory };
    const first = new AsyncDisposableStack();
    await takeSite(site, first);
    await writeSecret(files.endpoints, "of the first");
    await using second = new AsyncDisposableStack();
    await assertRejects(() => takeSite(site, second), CannotStart, "A sandbox already runs on the directory");
    assertEquals(await Deno.readTextFile(files.endpoints), "of the first");
    await first.disposeAsync();
    await takeSite(site, second);
  }));

Deno.test("takeSite says in one sentence that a directory cannot be used", () =>
  inDirectory(async (files) => {
    await Deno.writeTextFile(files.lock, "");
    await using running = new AsyncDisposableStack();
    const error = await assertRejects(
      () => takeSite({ port: findPort(), dir: `${files.lock}/below` }, running),
      CannotStart,
    );
    assert(error.message.endsWith("set SANDBOX_DIR to another directory."), error.message);
  }));

Deno.test("openState makes data of an unfinished start anew and keeps finished data", () =>
  inDirectory(async (files) => {
    assertEquals(await openState(files, 9000), "incomplete");
    await makeData(files, "half");
    assertEquals(await openState(files, 9000), "incomplete");
    await assertRejects(() => Deno.stat(files.participants), Deno.errors.NotFound);
    await assertRejects(() => Deno.stat(files.platformStore), Deno.errors.NotFound);
    await makeData(files, "whole");
    await markComplete(files, 9000);
    assertEquals(await openState(files, 9000), "complete");
    assertEquals(await Deno.readTextFile(files.platformStore), "whole");
  }));

Deno.test("openState keeps the data of each port and loses none", () =>
  inDirectory(async (files) => {
    for (const port of [9000, 9100]) {
      assertEquals(await openState(files, port), "incomplete");
      await makeData(files, `of ${port}`);
      await markComplete(files, port);
    }
    for (const port of [9000, 9100, 9000]) {
      assertEquals(await openState(files, port), "complete");
      assertEquals(await Deno.readTextFile(files.platformStore), `of ${port}`);
      assertEquals(await Deno.readTextFile(`${files.platformStore}-wal`), `of ${port}`);
      assertEquals(await Deno.readTextFile(`${files.participants}/who`), `of ${port}`);
    }
  }));

Deno.test("openState completes a change of port that was interrupted", () =>
  inDirectory(async (files) => {
    await openState(files, 9000);
    await makeData(files, "of 9000");
    await markComplete(files, 9000);
    // As if the move to port 9100 had ended after its first file.
    await Deno.mkdir(`${files.directory}/port-9000`);
    await Deno.rename(files.platformStore, `${files.directory}/port-9000/platform.kv`);
    assertEquals(await openState(files, 9000), "complete");
    assertEquals(await Deno.readTextFile(files.platformStore), "of 9000");
    assertEquals(await Deno.readTextFile(`${files.participants}/who`), "of 9000");
  }));

Deno.test("openState rejects a directory of something else", () =>
  inDirectory(async (files) => {
    await makeData(files, "holiday pictures");
    await assertRejects(() => openState(files, 9000), CannotStart, "not a sandbox's");
    assertEquals(await Deno.readTextFile(`${files.participants}/who`), "holiday pictures");
  }));

Deno.test("openAuthority and serverIdentity are kept, the server's renewed below 30 days", () =>
  inDirectory(async (files) => {
    const now = Date.now();
    const day = 86_400_000;
    const authority = await openAuthority(files, now);
    const again = await openAuthority(files, now + day);
    assertEquals(again.certificatePem, authority.certificatePem);
    const keys = await keyPairAt(files.serverKey);
    const first = await serverIdentity(files, keys, authority, now);
    assertEquals(await serverIdentity(files, keys, authority, now + 59 * day), first);
    const renewed = await serverIdentity(files, keys, authority, now + 61 * day);
    assertEquals(new X509Certificate(renewed.certificatePem).notAfter.getTime() > now + 150 * day, true);
    assertEquals(renewed.privateKeyPem, first.privateKeyPem);
  }));

Deno.test(
  "secret files are for their owner alone",
  { ignore: Deno.build.os === "windows" },
  () =>
    inDirectory(async (files) => {
      await Deno.writeTextFile(files.secrets, "open to all", { mode: 0o666 });
      await writeSecret(files.secrets, "closed");
      await keyPairAt(files.caKey);
      for (const path of [files.secrets, files.caKey]) {
        assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
      }
    }),
);
