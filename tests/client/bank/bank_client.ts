/** A bank's client whose platform is a function. Pool key 0 is the bank's, and key 1 the platform's. */
import { assembleBank, type Bank } from "../../../src/client/bank/bank.ts";
import type { Fetch } from "../../../src/client/party/http_request.ts";
import { openSigner } from "../../../src/client/party/signer.ts";
import { testKey } from "testing/keys.ts";

const [own, platform] = await Promise.all([testKey(0), testKey(1)]);
export const authUrl = "https://auth.example";
const endpoints = { base_url: "https://api.example", auth_url: authUrl, directory_url: "https://d.example" };
const account = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };
export const order = {
  DomesticPaymentId: "5d2c5b1e-31a5-4b52-9d6e-2b8e5b0b7a11",
  Initiation: {
    InstructedAmount: { Amount: "4.20", Currency: "EUR" },
    CreditorAccount: account,
    DebtorAccount: account,
  },
};
export const platformKeySet = { keys: [{ ...platform.publicJwk, kid: "platform", use: "sig" }] };

export async function openTestBank(fetch: Fetch, now?: () => number): Promise<Bank> {
  const signer = await openSigner("own", await own.privateKey("sign"));
  return assembleBank({ endpoints, ...(now === undefined ? {} : { now }) }, {
    participant: {
      orgId: "BANKA",
      orgName: "Bank A",
      softwareClientId: "SC-1",
      clientId: "SC-1",
      redirectUris: [],
      signer,
      softwareStatement: "",
    },
    decryption: { kid: "enc", key: await own.privateKey("decrypt") },
    fetch,
    close: () => {},
  });
}
