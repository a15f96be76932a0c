/** The running sandbox's own shop and banks, acted by a test with their keys. */
import { openMutualTls } from "../../src/client/party/mutual_tls.ts";
import { readDescription } from "../../scripts/integrators/participant/folder.ts";
import { decodeEndpoints } from "../../src/sandbox/shop/sandbox_endpoints.ts";
import type { FlowEnvironment } from "testing/flows.ts";
import type { PrivateRsaJwk } from "testing/generate_keys.ts";
import { asTestKey } from "testing/keys.ts";
import type { CertifiedKey, Participant } from "testing/participants.ts";
import type { PooledSandbox } from "./pooled_ecosystem.ts";

/** @throws {Error} if a participant's file is missing or unusable */
export async function openSandboxEnvironment(sandbox: PooledSandbox): Promise<FlowEnvironment & Disposable> {
  const { dir } = sandbox;
  const endpoints = decodeEndpoints(sandbox.endpoints);
  const [tpp, bankA, bankB, ca] = await Promise.all([
    participantIn(`${dir}/participants/shop`),
    participantIn(`${dir}/participants/bank-a`),
    participantIn(`${dir}/participants/bank-b`),
    Deno.readTextFile(`${dir}/ca.pem`),
  ]);
  const connections = new Map(
    [tpp, bankA, bankB].map(({ participant: { clientId }, transport }) =>
      [clientId, openMutualTls(transport, ca)] as const
    ),
  );
  return {
    get now() {
      return Date.now();
    },
    addresses: {
      baseUrl: endpoints.base_url,
      authUrl: endpoints.auth_url,
      directoryUrl: endpoints.directory_url,
      registrationAudience: endpoints.registration_audience,
    },
    tpp: tpp.participant,
    bankA: bankA.participant,
    bankB: bankB.participant,
    async api(request, as) {
      const connection = connections.get(as?.clientId ?? "");
      if (connection === undefined) throw new Error("the sandbox takes no request without a certificate");
      const body = request.body === null ? null : await request.text();
      const { url, method } = request;
      return await connection.fetch(url, { method, headers: Object.fromEntries(request.headers), body });
    },
    browser: (request) => fetch(request),
    [Symbol.dispose]() {
      for (const { close } of connections.values()) close();
    },
  };
}

interface Known {
  readonly participant: Participant;
  readonly transport: { readonly certPem: string; readonly keyPem: string };
}

async function participantIn(folder: string): Promise<Known> {
  const facts = await readDescription(folder);
  if (facts === undefined) throw new Error(`${folder} has no participant`);
  const read = (file: string): Promise<string> => Deno.readTextFile(`${folder}/${file}`);
  const keyNamed = async (name: string, kid = ""): Promise<CertifiedKey> => ({
    key: asTestKey(await jwkOf(await read(`${name}.key.pem`))),
    kid,
    certificate: body(await read(`${name}.cert.pem`)),
  });
  const { role, org_name: name, org_id: orgId, client_id: clientId, redirect_uris: redirectUris } = facts;
  const participant: Participant = {
    name,
    role: role === "PISP" ? "PISP" : "ASPSP",
    orgId,
    clientId,
    redirectUris,
    signing: await keyNamed("signing", facts.signing_kid),
    transport: await keyNamed("transport", facts.transport_kid),
    ...(facts.encryption_kid === undefined
      ? {}
      : { encryption: await keyNamed("encryption", facts.encryption_kid) }),
    statement: (await read(`${facts.software_client_id}.jks`)).trim(),
  };
  const [certPem, keyPem] = [await read("transport.cert.pem"), await read("transport.key.pem")];
  return { participant, transport: { certPem, keyPem } };
}

async function jwkOf(pem: string): Promise<PrivateRsaJwk> {
  const algorithm = { name: "RSA-PSS", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("pkcs8", Uint8Array.fromBase64(body(pem)), algorithm, true, [
    "sign",
  ]);
  const { n, e, d, p, q, dp, dq, qi } = await crypto.subtle.exportKey("jwk", key);
  return { kty: "RSA", n, e, d, p, q, dp, dq, qi } as PrivateRsaJwk;
}

function body(pem: string): string {
  return pem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
}
