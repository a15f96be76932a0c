/** Layers of a participant's own files, as the directory and the TLS proxy see them. */
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { SIGNATURE_ALG } from "../../../src/client/party/profile.ts";
import { loadParticipant } from "../../../src/client/party/participant.ts";
import { readDescription } from "../participant/folder.ts";
import type { KeySet, StatusList } from "../../testing/directory_answers.ts";
import {
  ask,
  connect,
  describeError,
  type Examination,
  known,
  type Layer,
  TASK,
  Wrong,
} from "./examination.ts";

const FOLDER: Layer = {
  name: "folder",
  mend: ({ patient }) =>
    `${TASK} participant onboard --name ${patient.name} --details .data/details.json   # or add-keys`,
  async check(at) {
    const description = await readDescription(at.folder);
    if (description === undefined) throw new Wrong(`${at.folder} has no participant.json.`);
    at.description = description;
    at.participant = await loadParticipant(at.folder);
    for (const purpose of ["signing", "transport"] as const) await checkKey(at, purpose);
    return `${description.org_name}, ${description.role}`;
  },
};

async function checkKey(at: Examination, purpose: "signing" | "transport"): Promise<void> {
  const [key, certificate] = await Promise.all([
    modulusOf(await Deno.readTextFile(`${at.folder}/${purpose}.key.pem`)),
    certificateIn(at, purpose),
  ]);
  const certified = await crypto.subtle.exportKey("jwk", await certificate.publicKey.export());
  const mend = `${TASK} participant add-keys --name ${at.patient.name} --${purpose}`;
  if (certified.n !== key) {
    throw new Wrong(`${purpose}.cert.pem is not the certificate of ${purpose}.key.pem.`, mend);
  }
  const kid = await kidOf(certificate);
  const named = known(at.description)[`${purpose}_kid`];
  if (named !== kid) {
    throw new Wrong(`${purpose}_kid of participant.json is ${named}; the certificate's x5t is ${kid}.`, mend);
  }
}

async function certificateIn(at: Examination, purpose: string): Promise<X509Certificate> {
  return new X509Certificate(await Deno.readTextFile(`${at.folder}/${purpose}.cert.pem`));
}

async function kidOf(certificate: X509Certificate): Promise<string> {
  const x5t = new Uint8Array(await crypto.subtle.digest("SHA-1", certificate.rawData));
  return x5t.toBase64({ alphabet: "base64url", omitPadding: true });
}

async function modulusOf(pem: string): Promise<string | undefined> {
  const der = Uint8Array.fromBase64(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ""));
  const algorithm = { name: "RSA-PSS", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]);
  return (await crypto.subtle.exportKey("jwk", key)).n;
}

/** The server rejected the client's certificate, which the client reads as an alert of TLS. */
const CLIENT_ALERT = /alert|peer.*(closed|reset)|connection (closed|reset)/i;

const TLS: Layer = {
  name: "TLS",
  mend: ({ patient: { dir } }) => `${TASK} start   # and ${dir}/ca.pem must be the platform's authority`,
  async check(at) {
    at.connection = connect(at, known(at.participant));
    const { base_url } = at.addresses;
    try {
      const request = { method: "GET", headers: { accept: "application/json" } };
      const response = await at.connection.fetch(`${base_url}/register/v1`, request);
      await response.body?.cancel();
    } catch (error) {
      const words = causesOf(error);
      if (CLIENT_ALERT.test(words)) return `${base_url} answers the handshake`; // CERTIFICATE looks further
      throw new Wrong(`${base_url}: ${words}`);
    }
    return `${base_url} answers`;
  },
};

function causesOf(error: unknown): string {
  const words: string[] = [];
  for (let at = error; at instanceof Error && words.length < 5; at = at.cause) words.push(at.message);
  return words.join(": ");
}

const CERTIFICATE: Layer = {
  name: "certificate",
  mend: ({ patient }) => `${TASK} participant add-keys --name ${patient.name} --transport --signing`,
  async check(at) {
    for (const purpose of ["transport", "signing"] as const) await checkCertificate(at, purpose);
    const response = await known(at.connection).fetch(`${at.addresses.base_url}/register/v1`, {
      method: "GET",
      headers: {},
    }).catch((error) => {
      throw new Wrong(`The platform's TLS rejects transport.cert.pem: ${causesOf(error)}`);
    });
    await response.body?.cancel();
    return `${known(at.description).transport_kid}, active in the directory`;
  },
};

async function checkCertificate(at: Examination, purpose: "signing" | "transport"): Promise<void> {
  const { notBefore, notAfter } = await certificateIn(at, purpose);
  const now = Date.now(); // TLS uses this computer's clock
  if (now < notBefore.getTime() || now > notAfter.getTime()) {
    throw new Wrong(
      `${purpose}.cert.pem is valid from ${notBefore.toISOString()} to ${notAfter.toISOString()}.`,
    );
  }
  const { org_id, [`${purpose}_kid` as const]: kid } = known(at.description);
  const home = `${at.addresses.directory_url}/participants/${org_id}/jwks`;
  const active = await keysAt(at, home);
  if (active.some((key) => key.kid === kid)) return;
  const revoked = (await keysAt(at, `${home}/revoked`)).find((key) => key.kid === kid);
  if (revoked === undefined && active.length === 0) return; // STATEMENT says why it has no active key
  const why = revoked === undefined ? "does not know it" : "lists it as revoked";
  throw new Wrong(`${purpose}.cert.pem has the kid ${kid}, and the directory ${why}.`);
}

async function keysAt(at: Examination, url: string): Promise<readonly { readonly kid: string }[]> {
  const response = await ask(at, url);
  const body = await response.json() as KeySet;
  if (!response.ok) throw new Wrong(`The directory does not know the participant: ${url}`);
  return body.keys;
}

const STATEMENT: Layer = {
  name: "statement",
  mend: ({ patient }) => `${TASK} participant renew-statement --name ${patient.name}`,
  async check(at) {
    const { softwareStatement, softwareClientId } = known(at.participant);
    const { directory_url } = at.addresses;
    await checkStanding(at);
    const keys = createRemoteJWKSet(new URL(`${directory_url}/jwks`));
    const options = { algorithms: [SIGNATURE_ALG], currentDate: new Date(at.now()), issuer: directory_url };
    const { payload } = await jwtVerify(softwareStatement, keys, options).catch((error) => {
      throw new Wrong(
        `The software statement is not one of ${directory_url} for now: ${describeError(error)}`,
      );
    });
    if (payload["software_client_id"] !== softwareClientId) {
      throw new Wrong(
        `The statement is for ${payload["software_client_id"]}; participant.json names ${softwareClientId}.`,
      );
    }
    const until = new Date((decodeJwt(softwareStatement).exp ?? 0) * 1000).toISOString();
    return `valid until ${until}`;
  },
};

async function checkStanding(at: Examination): Promise<void> {
  const { org_id } = known(at.description);
  const response = await ask(at, `${at.addresses.directory_url}/status`);
  const { participants } = await response.json() as StatusList;
  const found = participants.find((one) => one.org_id === org_id);
  if (found === undefined) throw new Wrong(`The directory does not list ${org_id}.`);
  const { org_status, software_client_status: software } = found;
  const set = `${TASK} participant set-status --name ${at.patient.name} --reason "back again"`;
  if (software !== "Active") {
    throw new Wrong(`The software is ${software} in the directory.`, `${set} --software Active`);
  }
  if (org_status !== "Active") {
    throw new Wrong(`${org_id} is ${org_status} in the directory.`, `${set} --organisation Active`);
  }
}

export const CREDENTIAL_LAYERS: readonly Layer[] = [FOLDER, TLS, CERTIFICATE, STATEMENT];
