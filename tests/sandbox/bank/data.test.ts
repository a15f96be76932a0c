/** Initial data of the sandbox banks: credentials in a folder, customers with valid accounts, and amounts. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { composeBanks } from "../../../src/sandbox/bank/bank_app.ts";
import {
  accountAt,
  ALICE_EUR_AT_BANKA,
  ALICE_EUR_AT_BANKB,
  customersOf,
} from "../../../src/sandbox/bank/customers.ts";
import { loadBank } from "../../../src/sandbox/bank/load_bank.ts";
import { minorUnits, wireAmountOf } from "../../../src/sandbox/bank/money.ts";
import { groupedIban } from "../../../src/sandbox/pages/grouped_iban.ts";
import { BANKS_URL } from "support/bank_browser.ts";
import { openBanksEnvironment } from "support/banks_environment.ts";

const SOFTWARE = "SC-6d1f0f6c-52a7-4d0c-8d3c-2f2f6d6f6a02";

function folder(
  participant: Record<string, unknown>,
  managedByBank: boolean,
): (path: string) => Promise<string> {
  const statement = { iss: "http://localhost:8442", consent_managedby_bank: managedByBank };
  const files = new Map([
    ["bank/participant.json", JSON.stringify({ ...described, ...participant })],
    [`bank/${SOFTWARE}.jks`, `${segment({ alg: "PS256" })}.${segment(statement)}.c2lnbmF0dXJl\n`],
    ["bank/signing.key.pem", "signing key"],
    ["bank/transport.key.pem", "transport key"],
    ["bank/transport.cert.pem", "transport certificate"],
    ["bank/encryption.key.pem", "encryption key"],
  ]);
  return (path) => {
    const text = files.get(path);
    return text === undefined ? Promise.reject(new Deno.errors.NotFound(path)) : Promise.resolve(text);
  };
}

const described = {
  name: "bank-a",
  org_id: "BANKA",
  org_name: "Bank A",
  role: "ASPSP",
  software_client_id: SOFTWARE,
  client_id: SOFTWARE,
  redirect_uris: ["http://localhost:8443/BANKA/sca"],
  signing_kid: "sig-kid",
  transport_kid: "tls-kid",
};

Deno.test("loadBank reads a bank with an encryption key and the platform's consent screen", async () => {
  const readText = folder({ encryption_kid: "enc-kid" }, false);
  assertEquals(await loadBank("bank", { readText }), {
    code: "BANKA",
    displayName: "Bank A",
    consentScreen: "platform",
    hasApp: false,
    signatureProfile: "a",
    orgId: "BANKA",
    clientId: SOFTWARE,
    signing: { keyPem: "signing key", kid: "sig-kid" },
    decryption: { keyPem: "encryption key", kid: "enc-kid" },
    transport: { certPem: "transport certificate", keyPem: "transport key" },
    trustAnchor: "localhost:8442",
  });
});

Deno.test("loadBank decrypts with the transport key where there is no encryption key (Decision A10)", async () => {
  const bank = await loadBank("bank", { readText: folder({}, true) });
  assertEquals(bank.decryption, { keyPem: "transport key", kid: "tls-kid" });
  assertEquals([bank.consentScreen, bank.signatureProfile], ["bank", "b"]);
});

Deno.test("loadBank rejects a folder that is not a bank's or not complete", async () => {
  await assertRejects(() => loadBank("bank", { readText: folder({ role: "PISP" }, false) }));
  await assertRejects(() => loadBank("bank", { readText: folder({ signing_kid: undefined }, false) }));
  await assertRejects(() => loadBank("other", { readText: folder({}, false) }), Deno.errors.NotFound);
});

Deno.test("composeBanks rejects a bank without customers", async () => {
  const profile = { ...await loadBank("bank", { readText: folder({}, true) }), code: "BANKC" };
  const deps = { banksUrl: BANKS_URL, baseUrl: "", authUrl: "", caPem: "", clock: () => 0, log: () => {} };
  await assertRejects(() => composeBanks({ ...deps, banks: [profile] }), Error, "BANKC");
});

Deno.test("customers have valid IBANs, all different, and ids that are no account numbers", () => {
  const customers = ["BANKA", "BANKB"].flatMap(customersOf);
  const ibans = customers.flatMap(({ accounts }) => accounts.map(({ identification }) => identification));
  assertEquals(
    [ibans.length, new Set(ibans).size],
    [12, 10],
    "Carol's two accounts at a bank have one number",
  );
  for (const iban of ibans) assertEquals(mod97(iban), 1n, iban);
  assertEquals(customersOf("BANKA")[0]?.accounts[0]?.identification, "GB33BUKB20201555555555");
  const spaced = { SchemeName: "IBAN", Identification: "gb33 bukb 2020 1555 5555 55" };
  assertEquals(accountAt(customers[0]?.accounts ?? [], spaced, "EUR")?.identification, ALICE_EUR_AT_BANKA);
  assertEquals(ALICE_EUR_AT_BANKA, "GB33BUKB20201555555555");
  assertEquals(ALICE_EUR_AT_BANKB, "DE89370400440532013000");
  assertEquals([...new Set(customers.map(({ id }) => id))], ["cust-alice", "cust-bob", "cust-carol"]);
});

Deno.test("minorUnits takes two fraction digits and nothing else", () => {
  assertEquals(["0.05", "10.50", "9999999999999.99"].map(minorUnits), [5, 1050, 999_999_999_999_999]);
  for (const text of ["10", "10.5", "10.505", "-1.00", "01.00", "1e2", "", " 1.00", "10000000000000.00"]) {
    assertEquals(minorUnits(text), undefined, text);
  }
  assertEquals([5, 0, 1050, -7].map(wireAmountOf), ["0.05", "0.00", "10.50", "-0.07"]);
});

Deno.test("account numbers are grouped for reading", () => {
  assertEquals(groupedIban("DE89370400440532013000"), "DE89 3704 0044 0532 0130 00");
});

Deno.test("GET / lists the banks, GET /{CODE} its customers, and every page links the style sheet", async () => {
  await using env = await openBanksEnvironment();
  const { banks } = env;
  const page = async (path: string): Promise<string> =>
    await (await banks.fetch(new Request(`${BANKS_URL}${path}`))).text();
  assertStringIncludes(await page("/"), '<a href="/BANKB">Bank B plc</a>');
  const home = await page("/BANKA");
  for (const words of ["alice", "GB33 BUKB 2020 1555 5555 55", "€5.00", "/assets/bank.css", 'lang="en"']) {
    assertStringIncludes(home, words);
  }
  assertEquals((await banks.fetch(new Request(`${BANKS_URL}/BANKC`))).status, 404);
  const css = await banks.fetch(new Request(`${BANKS_URL}/assets/bank.css`));
  assertEquals(css.headers.get("content-type"), "text/css; charset=utf-8");
  await css.body?.cancel();
});

function segment(value: unknown): string {
  return new TextEncoder().encode(JSON.stringify(value)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}

// ISO 13616: the first four characters go last, letters count from 10.
function mod97(iban: string): bigint {
  const digits = [...`${iban.slice(4)}${iban.slice(0, 4)}`].map((character) => parseInt(character, 36)).join(
    "",
  );
  return BigInt(digits) % 97n;
}
