/** Mistakes of a bank: its token, its reads of consents, and the payer accounts that it reports. */
import {
  authentication,
  call,
  type CallOptions,
  clientToken,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  dpopKey,
  requestToken,
} from "testing/flows.ts";
import { type AtBank, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { dpopProof, payloadSignature, seconds } from "testing/jwts.ts";
import { type Area, membersOf, type Mistake, mistake } from "./mistake.ts";
import { tokenTarget, type Workbench } from "./workbench.ts";

const ISSUER = ({ addresses }: Workbench): string => `'${addresses.authUrl}/BANKA'`;

const assertion = membersOf("client_assertion", async ({ env }, claims) => {
  const form = await authentication(env, env.bankA, "BANKA", { claims });
  return await requestToken(env, env.bankA, "BANKA", { form });
});

export const BANK_ACCESS: Area = {
  name: "bank access",
  role: "bank",
  mistakes: [
    mistake(
      ["the scope of a TPP", "scope", "'bank'"],
      ({ env }) => requestToken(env, env.bankA, "BANKA", { form: { scope: "payments" } }),
    ),
    mistake(
      ["a token at another bank's address", "the bank in the path", "'BANKA'"],
      ({ env }) => requestToken(env, env.bankA, "BANKB"),
    ),
    mistake(
      ["the grant of a customer", "grant_type", "client_credentials"],
      ({ env }) => requestToken(env, env.bankA, "BANKA", { form: { grant_type: "password" } }),
    ),
    mistake(
      ["another client than the certificate's", "client_id", ({ env }) => `'${env.bankA.clientId}'`],
      ({ env }) => requestToken(env, env.bankA, "BANKA", { form: { client_id: "BANKA" } }),
    ),
    assertion("aud", ({ addresses }) => addresses.authUrl, ISSUER, "is that of a result JWT"),
    assertion("iss", () => "BANKA", ({ env }) => `'${env.bankA.clientId}'`, "is the bank's code"),
    assertion("exp", ({ env }) => seconds(env) + 3600, "at most 330 s from now", "is an hour ahead"),
    mistake(["the proof of another request", "DPoP proof htm", "'POST'"], async (bench) => {
      const target = { method: "PUT", url: tokenTarget(bench).url };
      const proof = await dpopProof(bench.env, await dpopKey(), target);
      return await requestToken(bench.env, bench.env.bankA, "BANKA", { proof });
    }),
  ],
};

/** A read of a consent by bank A. */
async function reading(
  { env, bankToken, consent }: Workbench,
  { id, ...options }: CallOptions & { readonly id?: string },
): Promise<Response> {
  const path = `/BANKA/back-channel-auth/v1/${id ?? await consent()}`;
  return await call(env, env.bankA, await bankToken(), path, options);
}

function header(name: string, value: string, expected: string, how: string): Mistake {
  return {
    name: `${name} ${how}`,
    part: name,
    expected,
    make: (bench) => reading(bench, { headers: { [name]: value } }),
  };
}

export const CONSENT_READS: Area = {
  name: "reads of consents",
  role: "bank",
  mistakes: [
    mistake(
      ["an unknown consent", "the id", "an endpoint of this bank returned"],
      (bench) => reading(bench, { id: crypto.randomUUID() }),
    ),
    mistake(["a consent at another bank", "the id", "an endpoint of this bank returned"], async (bench) => {
      const { env } = bench;
      const bound = await clientToken(env, env.tpp, "BANKB");
      const made = await createConsent(env, bound, consentBody(), "BANKB");
      return await reading(bench, { id: made.Data.ConsentId });
    }),
    mistake(
      ["the path of another bank", "access token", "one that the token endpoint of 'BANKB' issued"],
      async ({ env, bankToken, consent }) =>
        await call(env, env.bankA, await bankToken(), `/BANKB/back-channel-auth/v1/${await consent()}`),
    ),
    mistake(["no proof", "the DPoP header", "a proof JWT"], (bench) => reading(bench, { proof: null })),
    mistake(
      ["a proof without ath", "DPoP proof ath", "SHA-256 of the access token"],
      (bench) => reading(bench, { proofChanges: { claims: { ath: undefined } } }),
    ),
    mistake(
      ["a proof for the path without the consent", "DPoP proof htu", "/BANKA/back-channel-auth/v1/"],
      (bench) => {
        const htu = `${bench.addresses.baseUrl}/BANKA/back-channel-auth/v1`;
        return reading(bench, { proofChanges: { claims: { htu } } });
      },
    ),
    header("x-fapi-auth-date", "2040-01-15T12:00:00Z", "an HTTP date", "is an ISO date"),
    header("x-fapi-customer-ip-address", "unknown", "an IP address", "is a word"),
    header("x-fapi-interaction-id", "7", "a UUID", "is a number"),
  ],
};

/** A report of accounts for a consent whose customer is at the bank. */
async function reporting(
  { env }: Workbench,
  change: { readonly accounts?: readonly unknown[]; readonly data?: Readonly<Record<string, unknown>> },
): Promise<Response> {
  const { consentId } = await toBank(env);
  const { accounts, data = {} } = change;
  return await putAccounts(env, env.bankA, consentId, accounts, { data });
}

function data(name: string, value: unknown, expected: string, how: string): Mistake {
  return {
    name: `${name} ${how}`,
    part: `Data.${name}`,
    expected,
    make: (bench) => reporting(bench, { data: { [name]: value } }),
  };
}

/** A report of one account with a changed member. */
function account(name: string, value: unknown, expected: string, how: string): Mistake {
  return {
    name: `${name} ${how}`,
    part: `Data.DebtorAccount[0].${name}`,
    expected,
    make: (bench) => reporting(bench, { accounts: [{ ...GOOD, [name]: value }] }),
  };
}

const GOOD = { ...DEBTOR_ACCOUNT, Balance: "1000.00", Currency: "EUR" };
const OTHER = { ...GOOD, Identification: "GB29NWBK60161331926819" };

/** A report of accounts that is signed in another way. */
async function signing(
  { env }: Workbench,
  sign: (body: string, flow: AtBank) => Promise<string | null>,
): Promise<Response> {
  const flow = await toBank(env);
  const { consentId } = flow;
  const Data = { BankId: "BANKA", ConsentId: consentId, Sub: "customer-1", DebtorAccount: [GOOD] };
  const body = JSON.stringify({ Data });
  return await putAccounts(env, env.bankA, consentId, [], { body, signature: await sign(body, flow) });
}

export const ACCOUNTS: Area = {
  name: "payer accounts",
  role: "bank",
  mistakes: [
    data("BankId", "BANKB", "the bank of the path", "is another bank"),
    data("BankId", undefined, "required", "is missing"),
    data("ConsentId", crypto.randomUUID(), "the consent of the path", "is another consent"),
    data("Sub", "GB33BUKB20201555555555", "account number", "is an account number"),
    data("Sub", "x".repeat(71), "1 to 70", "is too long"),
    data("DebtorAccount", [], "at least 1", "is empty"),
    data("DebtorAccount", GOOD, "array", "is one object"),
    data("DebtorAccount", Array(101).fill(GOOD), "at most 100", "has 101 elements"),
    data("Accounts", [], "not known", "is not a field"),
    account("Balance", 1000, "a decimal such as 1500.00", "is a number"),
    account("Balance", "1.000,00", "a decimal such as", "has a comma"),
    account("Currency", "eur", "ISO 4217", "is in lower case"),
    account("SchemeName", "IBAN2", "UK.OBIE.IBAN", "is unknown"),
    account("Identification", "GB33 BUKB 2020 1555 5555 55", "an IBAN without spaces", "has spaces"),
    account("Owner", "Alice", "not known", "is not a field"),
    mistake(
      ["an account twice", "Data.DebtorAccount[1]", "Repeats an account of the list"],
      (bench) => reporting(bench, { accounts: [GOOD, GOOD] }),
    ),
    mistake([
      "all accounts by a bank with its own consent screen",
      "Data.DebtorAccount",
      "exactly one element",
    ], async ({ env }) => {
      const { consentId } = await toBank(env, { bank: env.bankB });
      return await putAccounts(env, env.bankB, consentId, [GOOD, OTHER]);
    }),
    mistake(
      ["accounts for a consent that names the account", "Data.DebtorAccount", "in the consent already"],
      async ({ env }) => {
        const body = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
        const { consentId } = await toBank(env, { body });
        return await putAccounts(env, env.bankA, consentId);
      },
    ),
    mistake([
      "accounts before the customer has come",
      "Data.ConsentId",
      "after the platform has redirected the customer",
    ], async (bench) => await putAccounts(bench.env, bench.env.bankA, await bench.consent())),
    mistake(
      ["accounts after the customer has returned", "Data.ConsentId", "before the bank's return"],
      async ({ env }) => {
        const flow = await toBank(env);
        await (await putAccounts(env, env.bankA, flow.consentId)).body?.cancel();
        await (await flow.browser.open(await returnPath(env, env.bankA, flow.handover))).body?.cancel();
        return await putAccounts(env, env.bankA, flow.consentId);
      },
    ),
    mistake([
      "signed with the transport key's kid",
      "x-jws-signature kid",
      ({ env }) => `'${env.bankA.signing.kid}'`,
    ], (bench) =>
      signing(bench, (body) => {
        const { env } = bench;
        return payloadSignature(env, env.bankA, body, { header: { kid: env.bankA.transport.kid } });
      })),
    mistake(
      ["signed as BANKB", "x-jws-signature http://openbanking.org.uk/iss", "'BANKA'"],
      (bench) =>
        signing(bench, (body) => {
          const header = { "http://openbanking.org.uk/iss": "BANKB" };
          return payloadSignature(bench.env, bench.env.bankA, body, { header });
        }),
    ),
    mistake(
      ["signed before the body was serialized again", "x-jws-signature", "the exact bytes of the body"],
      (bench) => signing(bench, (body) => payloadSignature(bench.env, bench.env.bankA, `${body}\n`)),
    ),
    mistake(
      ["not signed", "x-jws-signature", "a detached JWS over the body"],
      (bench) => signing(bench, () => Promise.resolve(null)),
    ),
  ],
};
