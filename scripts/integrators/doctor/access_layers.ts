/** The participant's registration, client assertion and DPoP proof: one token request proves all three. */
import { type Bank, loadBankCredentials, openBank } from "../../../src/client/bank/bank.ts";
import { grantClientToken } from "../../../src/client/tpp/authorization.ts";
import { listBanks } from "../../../src/client/tpp/banks.ts";
import { emptyMessageLog } from "../../../src/client/tpp/message_log.ts";
import { openFlow } from "../../../src/client/tpp/payment_journey.ts";
import { openTpp } from "../../../src/client/tpp/tpp.ts";
import { connect, describeError, type Examination, known, type Layer, TASK, Wrong } from "./examination.ts";

/** Which words of a rejected token request belong to which layer. */
const ASSERTION_WORDS = /\bclient_assertion\b/;
const PROOF_WORDS = /DPoP/;

const REGISTRATION: Layer = {
  name: "registration",
  mend: (at) => registering(at),
  async check(at) {
    at.rejection = await tokenRejection(at);
    const words = at.rejection;
    if (/ answered 503\b/.test(words)) {
      throw new Wrong(words, `curl ${at.addresses.auth_url}/service-levels.json   # and try again later`);
    }
    if (words !== "" && !ASSERTION_WORDS.test(words) && !PROOF_WORDS.test(words)) throw new Wrong(words);
    return known(at.participant).clientId;
  },
};

/** Makes a registration JWT and posts it. */
function registering({ patient: { dir, name }, folder, addresses }: Examination): string {
  return [
    `${TASK} sign registration --name ${name} > .data/registration.jwt`,
    `curl --cacert ${dir}/ca.pem --cert ${folder}/transport.cert.pem --key ${folder}/transport.key.pem \\`,
    `  -H 'content-type: application/jose' --data-binary @.data/registration.jwt ${addresses.base_url}/register/v1`,
  ].join("\n");
}

async function tokenRejection(at: Examination): Promise<string> {
  try {
    if (known(at.description).role === "ASPSP") await bankToken(at);
    else await tppToken(at);
    return "";
  } catch (error) {
    if (error instanceof Wrong) throw error;
    return describeError(error);
  }
}

async function tppToken(at: Examination): Promise<void> {
  const { patient, addresses, now } = at;
  const redirectUri = known(at.participant).redirectUris[0] ?? "";
  const tpp = await openTpp({ dir: patient.dir, name: patient.name, endpoints: addresses, redirectUri, now });
  tpp.close(); // the examination's connection takes its place
  const { fetch } = known(at.connection);
  at.flow = await openFlow({ ...tpp, fetch }, patient.bank, emptyMessageLog()).catch(async (error) => {
    const banks = await listBanks({ authUrl: addresses.auth_url, fetch }).catch(() => []);
    const codes = banks.length === 0
      ? ""
      : ` The banks here are ${banks.map(({ bank }) => bank).join(", ")}.`;
    throw new Wrong(
      `The metadata of ${patient.bank} cannot be used: ${describeError(error)}${codes}`,
      `curl ${addresses.auth_url}/.well-known/oauth-authorization-server/${patient.bank}`,
    );
  });
  at.token = await grantClientToken(at.flow);
}

async function bankToken(at: Examination): Promise<void> {
  at.bank = await openItsBank(at, at.folder);
  const url = `${at.addresses.base_url}/${known(at.description).org_id}/back-channel-payments/v1`;
  const response = await at.bank.link.call({ method: "GET", url, headers: { accept: "application/json" } });
  await response.body?.cancel(); // BACK_CHANNEL judges the answer
}

/** Opens the bank whose folder is here, with the examination's connection. */
export async function openItsBank(at: Examination, folder: string): Promise<Bank> {
  const { transport, ...credentials } = await loadBankCredentials(folder);
  if (transport === undefined) throw new Wrong(`${folder} has no network certificate.`);
  const connection = connect(at, { transport });
  return await openBank({
    credentials,
    fetch: (url, { method = "GET", headers, body, signal }) =>
      connection.fetch(url, {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        body: body?.toString(),
        signal: signal ?? undefined,
      }),
    endpoints: at.addresses,
    now: at.now,
  });
}

const ASSERTION: Layer = {
  name: "assertion",
  mend: ({ patient: { name, bank } }) =>
    `${TASK} sign assertion --name ${name} --bank ${bank}   # a right one, to compare with yours`,
  check(at) {
    const words = at.rejection ?? "";
    if (ASSERTION_WORDS.test(words)) throw new Wrong(words);
    return Promise.resolve(`signed by ${known(at.participant).signer.kid}`);
  },
};

const PROOF: Layer = {
  name: "proof",
  mend: ({ patient: { name, bank }, addresses }) =>
    `${TASK} sign dpop --name ${name} --method POST --url ${addresses.base_url}/${bank}/token.oauth2/v1`,
  check(at) {
    const words = at.rejection ?? "";
    if (words !== "") throw new Wrong(words);
    return Promise.resolve("the token is bound to the key");
  },
};

export const ACCESS_LAYERS: readonly Layer[] = [REGISTRATION, ASSERTION, PROOF];
