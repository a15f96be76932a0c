/** The output of `deno task sign` is accepted by a running platform, and `deno task inspect` explains it. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { base64url, decodeJwt, decodeProtectedHeader, exportJWK, SignJWT } from "jose";
import { generateKeyPair } from "oauth4webapi";
import { bodyOf, type CreatedConsent, type PushedRequest, type TokenAnswer } from "testing/answers.ts";
import { openPlatform } from "../../../../scripts/command_line/platform.ts";
import { inspect } from "../../../../scripts/integrators/inspect/main.ts";
import {
  signAssertion,
  signBankResult,
  signBody,
  signProof,
  signRegistration,
} from "../../../../scripts/integrators/sign/main.ts";
import { openMutualTls } from "../../../../src/client/party/mutual_tls.ts";
import { loadParticipant } from "../../../../src/client/party/participant.ts";
import { openIntegratorsSandbox } from "support/outsiders.ts";
import { consentBody, DEBTOR_ACCOUNT } from "testing/flows.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";

Deno.test("a payment's requests can be made with what deno task sign prints, and inspect verifies each [SB8]", async (t) => {
  await using sandbox = await openIntegratorsSandbox();
  const { dir, endpoints: { base_url } } = sandbox;
  await sandbox.onboard("mine", "PISP");
  const folder = `${dir}/participants/mine`;
  const [platform, mine, caPem] = await Promise.all([
    openPlatform(dir),
    loadParticipant(folder),
    Deno.readTextFile(`${dir}/ca.pem`),
  ]);
  const { fetch: send, close } = openMutualTls(mine.transport, caPem);
  using _connection = { [Symbol.dispose]: close };
  const keys = await generateKeyPair("PS256", { extractable: true });
  const post = async <T>(path: string, headers: Record<string, string>, body: string | URLSearchParams) => {
    const response = await send(`${base_url}${path}`, { method: "POST", headers, body });
    return { status: response.status, json: await bodyOf<T>(response) };
  };
  const explained = async (token: string, aids = {}): Promise<string> =>
    (await inspect(token, { platform, folder, ...aids })).join("\n");

  await t.step("registration", async () => {
    const jwt = await signRegistration(platform, folder);
    const { status } = await post("/register/v1", { "content-type": "application/jose" }, jwt);
    assertEquals(status, 201);
    assertMatch(
      await explained(jwt),
      /^registration JWT\n[^]*exp .* in \d+ s[^]*Verified with the key of Company/,
    );
  });
  const authentication = async (): Promise<Record<string, string>> => ({
    client_id: mine.clientId,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await signAssertion(platform, folder, "BANKA"),
  });
  let token = "";
  await t.step("assertion and dpop", async () => {
    const url = `${base_url}/BANKA/token.oauth2/v1`;
    const dpop = await signProof(platform, keys, { method: "POST", url: `${url}#part` });
    assertEquals(decodeJwt(dpop)["htu"], url);
    const form = await authentication();
    const body = new URLSearchParams({ grant_type: "client_credentials", scope: "payments", ...form });
    const { status, json } = await post<TokenAnswer>("/BANKA/token.oauth2/v1", { dpop }, body);
    assertEquals(status, 200, JSON.stringify(json));
    token = json.access_token;
    assertMatch(
      await explained(form["client_assertion"] ?? ""),
      /^client assertion\n[^]*Verified with the key of/,
    );
    assertMatch(await explained(dpop), /^DPoP proof\n[^]*Verified with the key of its own header/);
  });
  let consentId = "";
  await t.step("payload, in both profiles", async () => {
    const path = "/BANKA/domestic-payment-consents/v1";
    const text = JSON.stringify(consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } }));
    const body = new TextEncoder().encode(text);
    for (const profile of ["a", "b"] as const) {
      const signature = await signBody(platform, folder, body, profile);
      const target = { method: "POST", url: `${base_url}${path}`, accessToken: token };
      const { status, json } = await post<CreatedConsent>(path, {
        authorization: `DPoP ${token}`,
        dpop: await signProof(platform, keys, target),
        "content-type": "application/json",
        "x-idempotency-key": crypto.randomUUID(),
        "x-jws-signature": signature,
      }, text);
      assertEquals(status, 201, JSON.stringify(json));
      consentId = json.Data.ConsentId;
      assertMatch(
        await explained(signature, { body }),
        /^payload signature[^]*Verified with the key of Company/,
      );
      const other = new TextEncoder().encode(`${text} `);
      assertMatch(await explained(signature, { body: other }), /NOT ACCEPTED by the key of Company/);
      assertMatch(await explained(signature), /Not verified: give --body/);
    }
  });
  await t.step("bank-result", async () => {
    const { json: pushed } = await post<PushedRequest>(
      "/BANKA/par.oauth2/v1",
      {},
      new URLSearchParams({
        ...await authentication(),
        response_type: "code",
        redirect_uri: mine.redirectUris[0] ?? "",
        code_challenge: await sha256("v".repeat(43)),
        code_challenge_method: "S256",
        consent_id: consentId,
        scope: "payments",
        state: "s",
      }),
    );
    const query = new URLSearchParams({ client_id: mine.clientId, request_uri: pushed.request_uri });
    const link = `${platform.addresses.auth_url}/BANKA/authorization.oauth2?${query}`;
    const departure = await fetch(link, { redirect: "manual" });
    await departure.body?.cancel();
    const handover = departure.headers.get("location") ?? "";
    const bank = `${dir}/participants/bank-a`;
    const token = new URL(handover).searchParams.get("oAuthUrl") ?? "";
    assertMatch(
      await explained(token),
      /^encrypted JWT\n[^]*NOT DECRYPTED[^]*participants\/mine is not that of kid/,
    );
    const [, ...rest] = token.split(".");
    const outer = JSON.stringify({ ...decodeProtectedHeader(token), alg: "RSA-OAEP" });
    assertMatch(
      (await inspect([base64url.encode(outer), ...rest].join("."), { platform, folder: bank })).at(-1) ??
        "",
      /^NOT DECRYPTED: [^.]*not allowed\.$/,
    );
    const opened = (await inspect(token, { platform, folder: bank })).join("\n");
    assertMatch(
      opened,
      /^encrypted JWT\n[^]*handover JWT of the platform to a bank[^]*Verified with the key of the platform/,
    );
    const result = { sub: "customer-1", statusCode: "success" } as const;
    const back = await signBankResult(platform, bank, handover, result);
    const cookie = departure.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
    const returned = await fetch(back, { redirect: "manual", headers: { cookie } });
    await returned.body?.cancel();
    assert(new URL(returned.headers.get("location") ?? "").searchParams.has("code"));
    await assertRejects(
      () => signBankResult(platform, `${dir}/participants/bank-b`, handover, result),
      Error,
    );
  });
  await t.step("inspect names what it cannot verify", async () => {
    assertMatch(
      (await inspect(await signAssertion(platform, folder, "BANKA"), { platform })).at(-1) ?? "",
      /no key has the kid/,
    );
    const none = btoa(JSON.stringify({ alg: "none" })).replaceAll("=", "");
    assertEquals(
      (await inspect(`${none}.e30.e30`, { platform })).at(-1),
      "NOT ACCEPTED: alg is none; only PS256 is.",
    );
    await assertRejects(() => inspect("secret", {}), Error, "3 or 5 parts");
    const jwk = { ...await exportJWK(keys.publicKey), kid: "own" };
    const bringing = new SignJWT({ iss: "x", sub: "x" }).setProtectedHeader({
      alg: "PS256",
      kid: "own",
      jwk,
    });
    assertMatch(
      (await inspect(await bringing.sign(keys.privateKey), { platform })).at(-1) ?? "",
      /^Not verified/,
    );
  });
});

Deno.test("the commands print one line, and say what is missing [SB8]", async () => {
  await using sandbox = await openIntegratorsSandbox();
  const run = async (script: string, ...args: string[]) => {
    const permissions = ["--allow-net", "--allow-read", "--allow-write", "--allow-env"];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-q",
        "--no-check",
        "--no-prompt",
        ...permissions,
        `scripts/integrators/${script}/main.ts`,
        ...args,
      ],
      cwd: new URL("../../../../", import.meta.url).pathname,
      env: { SANDBOX_DIR: sandbox.dir },
    }).output();
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    return { code, out: text(stdout), error: text(stderr) };
  };
  const made = await run("sign", "assertion", "--name", "shop", "--bank", "BANKA");
  assertMatch(made.out, /^eyJ[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const shown = await run("inspect", made.out.trim(), "--name", "shop");
  assertMatch(shown.out, /Verified with the key of Cafe Mirabelle\.\n$/);
  const changed = await run("inspect", made.out.trim().replace(/\.[^.]+$/, ".AAAA"), "--name", "shop");
  assertMatch(changed.out, /NOT ACCEPTED by the key of Cafe Mirabelle: .*\n$/);
  assertEquals([shown.code, changed.code], [0, 1]);
  const proof = ["sign", "dpop", "--url", "https://localhost/x"] as const;
  const [one, two] = [await run(...proof), await run(...proof)];
  const keyOf = ({ out }: { readonly out: string }): string => out.split(".")[0] ?? "-";
  assertEquals(keyOf(one), keyOf(two)); // the key is kept
  assertMatch((await run("sign", "assertion", "--name", "shop")).error, /^--bank is missing/);
  assertEquals((await run("sign", "nothing")).code, 2);
  assertMatch((await run("doctor", "--name", "shop")).out, /Every layer is fine\.\n$/);
  const sick = await run("doctor", "--name", "none");
  assertEquals(sick.code, 1);
  assertMatch(sick.out, /^WRONG {2}folder .*\n\nnpx -y deno@2.9.6 task participant onboard --name none/);
});
