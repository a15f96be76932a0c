/** A bank's client that cannot be opened. */
import { assertRejects } from "@std/assert";
import { exportPKCS8, generateKeyPair } from "jose";
import { openBank } from "../../../src/client/bank/bank.ts";
import { SettingsError } from "../../../src/client/party/errors.ts";
import { openSigner, signJwt } from "../../../src/client/party/signer.ts";
import { withFrontDoor } from "support/front_door_environment.ts";

Deno.test("openBank names a decryption key that cannot be used, and keeps no connection open", {
  sanitizeResources: true,
}, () =>
  withFrontDoor(() => new Response(), async ({ alpha, ca }) => {
    const { privateKey } = await generateKeyPair("PS256", { extractable: true });
    const claims = {
      org_id: "BANKA",
      org_name: "Bank A",
      software_client_id: "SC-1",
      software_redirect_uris: [],
    };
    const credentials = {
      softwareStatement: await signJwt(await openSigner("kid-1", privateKey), claims),
      signing: { kid: "kid-1", key: await exportPKCS8(privateKey) },
      decryption: { kid: "enc", key: "no key" },
      transport: { certPem: alpha.cert, keyPem: alpha.key },
    };
    const endpoints = {
      base_url: "https://a.example",
      auth_url: "https://b.example",
      directory_url: "https://c.example",
    };
    await assertRejects(
      () => openBank({ credentials, ca, endpoints }),
      SettingsError,
      "The key enc cannot decrypt",
    );
  }));
