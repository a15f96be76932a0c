/** `deno task signer` with a token of SoftHSM 2: what it makes, serves, rejects and survives. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { CompactEncrypt, compactVerify, flattenedVerify, importJWK, type JWK } from "jose";
import { openSigner } from "../../../../src/base/http/signer_client.ts";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { openSealed } from "../../../../src/base/jose/sealed_jwt.ts";
import { signClaims } from "../../../../src/base/jose/own_key.ts";
import { signDetached } from "../../../../src/base/jose/detached_jws.ts";
import { openWrappingKeys } from "../../../../src/platform/evidence/data_keys/wrapping_keys.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { startCommand } from "testing/served_platform.ts";
import { isSoftHsmMissing, SoftHsm } from "testing/soft_hsm.ts";

const ignore = isSoftHsmMissing;
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi"];
/** How long the client of these tests waits for the signer, ms. */
const PATIENCE_MS = 2000;

type Key = JWK & { readonly kid: string };

interface KeySet {
  readonly keys: readonly [sig: Key, enc: Key];
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

Deno.test(
  { name: "the signer signs and decrypts with keys that cannot leave a token [F12]", ignore },
  async (t) => {
    await using hsm = await SoftHsm.open();
    await hsm.run("make", "--name", "Example Platform");
    const { keys } = JSON.parse(await Deno.readTextFile(hsm.file)) as KeySet;
    const [sig, enc] = keys;
    const process = await hsm.serve();
    await process.ready;
    const signer = openSigner(hsm.socket);
    const ring = await openKeyRing(await signer.keySet(), undefined, signer);
    await t.step("neither the file nor the platform has a private member", () => {
      for (const key of keys) assertEquals(PRIVATE.filter((member) => member in key), []);
      const isLocal = [ring.signer, ...ring.decrypters].map(({ key }) => key instanceof CryptoKey);
      assertEquals(isLocal, [false, false]);
    });
    await t.step("another program verifies its signatures, and those of its certificates", async () => {
      const key = await importJWK(sig, "PS256");
      const { protectedHeader } = await compactVerify(
        await signClaims({ iss: "platform" }, ring.signer),
        key,
      );
      assertEquals(protectedHeader, { alg: "PS256", typ: "JWT", kid: sig.kid });
      const claims = { iat: 1, issuer: "https://auth.example", trustAnchor: "directory.example" };
      const [header, signature = ""] =
        (await signDetached(bytesOf("{}"), ring.signer, { profile: "B", ...claims }))
          .split("..");
      const crit = {
        "http://openbanking.org.uk/iat": true,
        "http://openbanking.org.uk/iss": true,
        "http://openbanking.org.uk/tan": true,
      };
      await flattenedVerify({ protected: header ?? "", payload: "e30", signature }, key, { crit });
      await Deno.writeTextFile(`${hsm.folder}/own.csr`, await hsm.run("request", "--kid", sig.kid));
      await hsm.command("openssl", ["req", "-verify", "-noout", "-in", "own.csr"]);
    });
    await t.step("it decrypts what another program encrypts, and no text with a changed bit", async () => {
      const sealed = await new CompactEncrypt(bytesOf("a.b.c"))
        .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", kid: enc.kid })
        .encrypt(await importJWK(enc, "RSA-OAEP-256"));
      assertEquals(await openSealed(sealed, ring.decrypters), { ok: true, value: "a.b.c" });
      assertEquals((await openSealed(changedKey(sealed), ring.decrypters)).ok, false);
    });
    await t.step("a key does nothing but its use, and an unknown one nothing", async () => {
      const digested = bytesOf("text");
      for (
        const call of [
          () => signer.key(enc.kid).sign(digested),
          () => signer.key("unknown").sign(digested),
          () => signer.key(sig.kid).decrypt(new Uint8Array(256)),
        ]
      ) assertMatch((await assertRejects(call, ApiError)).message, /signer: answered 404/);
    });
    await t.step("a name whose escapes are wrong is no key", async () => {
      const post = ["--silent", "--data", "x", "--unix-socket", hsm.socket, "--write-out", " %{http_code}"];
      assertEquals(await hsm.command("curl", [...post, "http://signer/sign/%zz"]), "no such resource 404");
    });
    await t.step("each use is logged by its key, and counted", async () => {
      const used = (): typeof process.lines => process.lines.filter(({ event }) => event === "signer.used");
      while (used().at(-1)?.["operation"] !== "decrypt" || used().at(-1)?.["status"] !== 404) {
        await new Promise((resolve) => setTimeout(resolve, 10)); // until the last use is read
      }
      const uses = used();
      const ofSig = uses.filter(({ kid }) => kid === sig.kid);
      assertEquals(
        new Set(ofSig.map(({ operation, status }) => `${operation} ${status}`)),
        new Set(["sign 200", "decrypt 404"]),
      );
      assertEquals(
        new Set(uses.map((use) => Object.keys(use).join())),
        new Set([
          "at,level,event,operation,kid,status,milliseconds",
          "at,level,event,operation,status,milliseconds", // of the unknown key
        ]),
      );
      assertEquals(await usesCounted(hsm), {
        [sig.kid]: ofSig.length,
        [enc.kid]: uses.length - ofSig.length - 1,
      });
    });
  },
);

Deno.test(
  {
    name: "wrapping keys move from a file into a token, which wraps and unwraps with them [F12] [P3]",
    ignore,
  },
  async (t) => {
    await using hsm = await SoftHsm.open();
    await hsm.importKeys();
    assertMatch(await hsm.run("wrapping-key", "2027-01"), /^2027-01 token$/m);
    const process = await hsm.serve();
    await process.ready;
    const signer = openSigner(hsm.socket);
    const inFile = `2026-11 ${crypto.getRandomValues(new Uint8Array(32)).toBase64()}`;
    const dataKey = crypto.getRandomValues(new Uint8Array(32));
    const wrapping = await openWrappingKeys(inFile, signer);
    const former = await wrapping.wrap("case", dataKey);
    const unused = (): Promise<undefined> => Promise.resolve(undefined);
    await t.step("by the steps of a replacement", async () => {
      await wrapping.renew(`${inFile}\n2027-01 token`, unused);
      await wrapping.renew(`2027-01 token\n${inFile}`, unused);
      assertEquals(await wrapping.unwrap("case", former), dataKey);
      const wrapped = await wrapping.wrap("case", dataKey);
      assertEquals(wrapped.wrappedBy, "2027-01");
      await wrapping.renew("2027-01 token", unused);
      assertEquals(await wrapping.unwrap("case", wrapped), dataKey);
      assertEquals(await (await openWrappingKeys("2027-01 token", signer)).unwrap("case", wrapped), dataKey);
    });
    await t.step("nothing opens under another name or with a changed bit", async () => {
      const box = await signer.wrap("2027-01", "case", dataKey);
      const changed = Uint8Array.from(box, (byte, at) => at === 20 ? byte ^ 1 : byte);
      assertEquals(await signer.unwrap("2027-01", "case", box), dataKey);
      assertEquals(await signer.unwrap("2027-01", "other", box), undefined);
      assertEquals(await signer.unwrap("2027-01", "case", changed), undefined);
      assertEquals(await signer.unwrap("2027-01", "case", box.slice(0, 20)), undefined);
    });
    await t.step("a key that no token has, a key of another kind, and no token at all", async () => {
      const { keys: [sig] } = JSON.parse(await Deno.readTextFile(hsm.file)) as KeySet;
      for (const id of ["2027-02", sig.kid]) {
        assertMatch(await rejection(() => openWrappingKeys(`${id} token`, signer)), /answered 404/);
      }
      assertMatch(
        await rejection(() => openWrappingKeys("2027-01 token")),
        /the key 2027-01 is in a token: PLATFORM_KEYS must be signer:/,
      );
      assertMatch(
        await rejection(() => hsm.run("wrapping-key", "2027-01")),
        /the token platform has a key wrapping 2027-01/,
      );
      assertMatch(
        await rejection(() => hsm.run("wrapping-key", "a b")),
        /the id of a wrapping key has 1 to 40/,
      );
    });
    await t.step("a signer that is gone is no fault of the data", async () => {
      process.kill("SIGKILL");
      await process.ended;
      const { reason } = await assertRejects(() => wrapping.wrap("case", dataKey), ApiError);
      assertEquals(reason, "platform.unavailable");
    });
  },
);

Deno.test({
  name: "a signer that hangs or ends fails its platform's calls in time, and works again [F12]",
  ignore,
}, async (t) => {
  await using hsm = await SoftHsm.open();
  await hsm.run("make");
  const process = await hsm.serve();
  await process.ready;
  const signer = openSigner(hsm.socket, PATIENCE_MS);
  const ring = await openKeyRing(await signer.keySet(), undefined, signer);
  const told: string[] = [];
  signer.watch({
    called: (operation, _seconds, succeeded) => void told.push(`${operation} ${succeeded}`),
    failing: (why) => void told.push(why),
    working: () => void told.push("working"),
  });
  const sign = (): Promise<string> => signClaims({}, ring.signer);
  await t.step("it hangs", async () => {
    process.kill("SIGSTOP");
    const { reason } = await assertRejects(sign, ApiError);
    assertEquals(reason, "platform.unavailable");
    assertEquals(await signer.probe(), { ok: false, detail: `has not answered within ${PATIENCE_MS} ms` });
    process.kill("SIGCONT");
    while (!(await signer.probe()).ok); // it has been waiting for the processor
    await sign();
    const [first, second] = told;
    assertEquals([first, second], ["sign false", `has not answered within ${PATIENCE_MS} ms`]);
    assertEquals(told.filter((what) => what === "working"), ["working"]);
  });
  await t.step("it is killed and started again beside its left socket", async () => {
    process.kill("SIGKILL");
    await process.ended;
    await assertRejects(sign, ApiError);
    const next = await hsm.serve();
    await next.ready;
    await sign();
    assertMatch(await rejection(() => hsm.serve().then(({ ready }) => ready)), /another process answers at/);
    next.kill("SIGTERM");
    assertEquals((await next.ended).code, 0);
  });
  await t.step("its token goes: it ends, so that its supervisor starts it with the token again", async () => {
    const serving = await hsm.serve();
    await serving.ready;
    await sign();
    await Deno.rename(`${hsm.folder}/tokens`, `${hsm.folder}/gone`);
    await assertRejects(sign, ApiError);
    assertEquals((await serving.ended).code, 1);
    await Deno.rename(`${hsm.folder}/gone`, `${hsm.folder}/tokens`);
    await (await hsm.serve()).ready;
    await sign();
  });
});

Deno.test(
  {
    name:
      "sessions that the token has closed, or an operation has left unusable, are opened again; a PIN is rejected once [F12]",
    ignore,
  },
  async () => {
    await using hsm = await SoftHsm.open();
    const program = new URL("../../../support/lost_sessions.ts", import.meta.url).pathname;
    const config = new URL("../../../../deno.json", import.meta.url).pathname;
    const rights = ["run", "--no-check", "--config", config, "--allow-ffi", "--allow-read"];
    const output = await hsm.command(Deno.execPath(), [...rights, program, hsm.module, "platform", hsm.pin]);
    const { before, after, lengths, ...others } = JSON.parse(output) as Readonly<
      Record<string, readonly unknown[]>
    >;
    assertEquals(before, ["C_OpenSession", "C_Login"]);
    assertEquals(new Set(after), new Set(before));
    assertEquals(lengths, [256, 256, 256, 256, 256, 256]);
    const six = (word: string): string[] => Array(6).fill(word);
    assertEquals(others, {
      unfinished: six("rejected"),
      later: six("fulfilled"), // in sessions without the unfinished operation
      rejected: six("PinRejected"),
      tries: ["C_Login"], // a token locks itself after a few
    });
  },
);

Deno.test(
  { name: "the signer rejects a wrong PIN, keys of no token, and what others may open [F12]", ignore },
  async (t) => {
    await using hsm = await SoftHsm.open();
    await hsm.run("make");
    const file = await Deno.readTextFile(hsm.file);
    const startFailure = async (): Promise<string> =>
      await rejection(async () => await (await hsm.serve()).ready);
    await t.step("a wrong PIN ends with a status of its own: a supervisor must not try again", async () => {
      await Deno.writeTextFile(hsm.pinFile, "000000");
      assertMatch(await startFailure(), /ended with 2: the token platform has rejected the PIN/);
      await Deno.chmod(hsm.pinFile, 0o604);
      assertMatch(await startFailure(), /others may open .*\/pin; chmod o=/);
      await Deno.remove(hsm.pinFile);
      await Deno.writeTextFile(hsm.pinFile, hsm.pin, { mode: 0o600 });
    });
    await t.step("a folder that others may open", async () => {
      await Deno.chmod(`${hsm.folder}/run`, 0o755);
      assertMatch(await startFailure(), /others may open .*\/run\//);
      await Deno.chmod(`${hsm.folder}/run`, 0o700);
    });
    await t.step("a file in the place of the socket, which stays", async () => {
      await Deno.writeTextFile(hsm.socket, file);
      assertMatch(await startFailure(), /signer\.sock is not a socket/);
      assertEquals(await Deno.readTextFile(hsm.socket), file);
      await Deno.remove(hsm.socket);
    });
    await t.step("a wrapping key whose id a token has, whichever of them", async () => {
      const other = ["--init-token", "--free", "--label", "next", "--pin", hsm.pin, "--so-pin", hsm.pin];
      await hsm.command("softhsm2-util", other);
      const make = (tokens: string): Promise<string> =>
        rejection(() => hsm.run("wrapping-key", "2027-01", "--token", tokens));
      await hsm.run("wrapping-key", "2027-01");
      const [own, next] = ["platform", "next"].map((label) => `${label}=${hsm.pinFile}`);
      assertMatch(await make(`${next},${own}`), /the token platform has a key wrapping 2027-01/);
    });
    await t.step("a key of another token, and a private key", async () => {
      const { keys: [sig, enc] } = JSON.parse(file) as KeySet;
      await Deno.writeTextFile(
        hsm.file,
        JSON.stringify({ keys: [sig, { ...enc, n: sig.n?.toLowerCase() }] }),
      );
      assertMatch(await startFailure(), new RegExp(`the key ${enc.kid} is in none of the tokens platform`));
      await Deno.writeTextFile(hsm.file, JSON.stringify({ keys: [sig, { ...enc, d: "AQAB" }] }));
      assertMatch(await startFailure(), /without private members; look at: keys\.1\.d/);
    });
  },
);

Deno.test(
  { name: "the unit platform-signer starts the signer with its few rights [F12]", ignore },
  async () => {
    await using hsm = await SoftHsm.open();
    await hsm.importKeys();
    await Deno.mkdir(`${hsm.folder}/credentials`);
    await Deno.rename(hsm.pinFile, `${hsm.folder}/credentials/pin`);
    const root = new URL("../../../../", import.meta.url).pathname;
    const unit = await Deno.readTextFile(`${root}packaging/systemd/platform-signer.service`);
    const [, command = ""] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const places = {
      "/usr/local/bin/deno": Deno.execPath(),
      "/etc/platform-signer": hsm.folder,
      "/run/platform-signer": `${hsm.folder}/run`,
      "%d": `${hsm.folder}/credentials`,
      "/usr/lib/softhsm/libsofthsm2.so": hsm.module,
    };
    const placed = Object.entries(places).reduce((text, [from, to]) => text.replaceAll(from, to), command);
    const process = startCommand(placed.split(" "), root, hsm.environment, "signer.listening");
    try {
      await process.ready;
      const signer = openSigner(hsm.socket);
      await signClaims({}, (await openKeyRing(await signer.keySet(), undefined, signer)).signer);
    } finally {
      process.kill("SIGTERM");
    }
    assertEquals(await process.ended, { code: 0, stderr: "" });
  },
);

function changedKey(sealed: string): string {
  const [header, encryptedKey = "", ...rest] = sealed.split(".");
  const bytes = Uint8Array.fromBase64(encryptedKey, { alphabet: "base64url" });
  const changed = bytes.with(20, (bytes[20] ?? 0) ^ 1).toBase64({ alphabet: "base64url", omitPadding: true });
  return [header, changed, ...rest].join(".");
}

async function usesCounted(hsm: SoftHsm): Promise<unknown> {
  const url = ["--silent", "--unix-socket", hsm.socket, "http://signer/health"];
  return (JSON.parse(await hsm.command("curl", url)) as { readonly uses: unknown }).uses;
}

async function rejection(run: () => Promise<unknown>): Promise<string> {
  return (await assertRejects(run, Error)).message;
}
