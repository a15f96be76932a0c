/** `deno task platform-keys`: what each command does to the file, and what it rejects. */
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { directoryKeys } from "../../../../scripts/operators/directory_keys/main.ts";
import { platformKeys } from "../../../../scripts/operators/platform_keys/main.ts";
import { IN_FILE } from "../../../../scripts/operators/platform_keys/making.ts";
import type { StoredKey } from "../../../../scripts/operators/platform_keys/file.ts";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { NOW, Office } from "./key_office.ts";

const HOUR = 3600;

Deno.test("platform-keys make writes keys that the platform starts with, for the owner alone, and never overwrites", async () => {
  await using office = await Office.open();
  assertMatch(await office.rejection("make"), /is there already; rotate adds keys to it\.$/);
  await Deno.remove(office.file);
  const printed = await office.run("make", "--name", "Example Platform", "--days", "30");
  assertEquals(((await Deno.stat(office.file)).mode ?? 0) & 0o777, 0o600);
  const [sig, enc] = await office.keys();
  assertEquals([sig?.use, enc?.use, sig?.kid], ["sig", "enc", sig?.x5t]);
  const certificate = new X509Certificate(sig?.x5c?.[0] ?? "");
  assertEquals([certificate.subject, certificate.notAfter.getTime()], [
    "CN=Example Platform",
    NOW + 30 * 86_400_000,
  ]);
  assert(await certificate.verify({ date: new Date(NOW) }));
  const ring = await openKeyRing(await office.text(), () => NOW);
  assertEquals(ring.signer.kid, sig?.kid);
  const text = printed.join("\n");
  for (const member of ["d", "p", "q", "dp", "dq", "qi"] as const) {
    assert(!text.includes(sig?.[member] ?? "?"), member);
  }
});

Deno.test("platform-keys rotate adds keys for later and dates the ones before; a second one must wait", async () => {
  await using office = await Office.open();
  const [oldSig, oldEnc] = await office.keys();
  await office.run("rotate", "--lead", "2h", "--keep", "3h");
  const [sig, enc, nextSig, nextEnc] = await office.keys();
  const [nbf, exp] = [NOW / 1000 + 2 * HOUR, NOW / 1000 + 5 * HOUR];
  assertEquals([sig, enc], [{ ...oldSig, exp }, { ...oldEnc, exp }] as StoredKey[]);
  assertEquals([nextSig?.use, nextSig?.nbf, nextSig?.exp], ["sig", nbf, undefined]);
  assertEquals([nextEnc?.use, nextEnc?.nbf, nextEnc?.exp], ["enc", nbf, undefined]);
  assertMatch(
    await office.rejection("rotate"),
    /^A next sig key waits already: .* from 2027-01-01T02:00:00Z\. To replace it, take it out first: retire --kid \S+\.$/,
  );
  office.now += 3 * HOUR * 1000;
  await office.run("rotate", "--use", "enc", "--lead", "0s", "--keep", "1h");
  const keys = await office.keys();
  assertEquals(keys.map(({ use }) => use), ["sig", "enc", "sig", "enc", "enc"]);
  assertEquals(keys.map(({ exp }) => exp), [exp, exp, undefined, NOW / 1000 + 4 * HOUR, undefined]);
});

Deno.test("platform-keys makes changes that come together one after the other, and loses none", async () => {
  await using office = await Office.open();
  await Promise.all([office.run("rotate", "--use", "sig"), office.run("rotate", "--use", "enc")]);
  const next = (await office.keys()).filter(({ nbf }) => nbf !== undefined);
  assertEquals(next.map(({ use }) => use).toSorted(), ["enc", "sig"]);
  const elsewhere = `${office.folder}/other/keys.json`;
  const tools = { print: () => {}, now: office.now, custody: IN_FILE };
  for (const change of [platformKeys, directoryKeys]) {
    await assertRejects(() => change(["retire", "--file", elsewhere], tools), Error, "cannot be read");
    assert(!await Deno.stat(`${office.folder}/other`).then(() => true, () => false), "a folder was made");
  }
});

Deno.test("platform-keys retire takes out what is over, or one key at once, and never the last in use", async () => {
  await using office = await Office.open();
  const [sig, enc] = await office.keys();
  assertEquals((await office.run("retire"))[0], "No key's time has passed.");
  assertMatch(
    await office.rejection("retire", "--kid", sig?.kid ?? ""),
    /^No sig key would be in use; rotate/,
  );
  assertEquals(await office.rejection("retire", "--kid", "unknown"), "There is no key unknown.");
  await office.run("rotate", "--lead", "1h", "--keep", "1h");
  assertMatch(await office.rejection("retire", "--kid", enc?.kid ?? ""), /^No enc key would be in use/);
  office.now += 2 * HOUR * 1000 - 1000;
  assertEquals((await office.run("retire"))[0], "No key's time has passed.");
  office.now += 1000;
  assertMatch((await office.run("retire"))[0] ?? "", new RegExp(`^Taken out: ${sig?.kid}, ${enc?.kid}\\.`));
  assertEquals((await office.keys()).map(({ use }) => use), ["sig", "enc"]);
});

Deno.test("platform-keys show tells what each key is for, and which certificate ends soon", async () => {
  await using office = await Office.open();
  await office.run("rotate", "--lead", "1h", "--keep", "1h", "--days", "10");
  const states = async (): Promise<string[]> =>
    (await office.run("show")).map((line) =>
      line.replace(/^(sig|enc) {2}\S+ {2}/, "$1 ").replace(/, certificate.*T/, " T")
    );
  assertEquals(await states(), [
    "sig in use until 2027-01-01T01:00:00Z T00:00:00Z",
    "enc in use until 2027-01-01T01:00:00Z",
    "sig published, in use from 2027-01-01T01:00:00Z T00:00:00Z SOON: rotate",
    "enc published, in use from 2027-01-01T01:00:00Z",
  ]);
  office.now += HOUR * 1000;
  assertEquals((await states()).map((line) => line.slice(0, 40)), [
    "sig published until 2027-01-01T02:00:00Z",
    "enc published until 2027-01-01T02:00:00Z",
    "sig in use T00:00:00Z SOON: rotate",
    "enc in use",
  ]);
  office.now += HOUR * 1000;
  assertEquals((await states())[0]?.slice(0, 46), "sig its time has passed: retire takes it out T");
});
