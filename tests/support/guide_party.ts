/** A TPP or a bank that follows the guides: its folder, its keys, and signatures made as the signatures guide shows. */
import * as jose from "jose";
import { evaluate, type Shell, type Snippets } from "./guide_snippets.ts";

/** `participant.json`, as `scripts/integrators/participant` writes it. */
interface ParticipantFile {
  readonly role: "PISP" | "ASPSP";
  readonly org_id: string;
  readonly org_name: string;
  readonly client_id: string;
  readonly software_client_id: string;
  readonly redirect_uris: readonly string[];
  readonly signing_kid: string;
}

/** A party that follows the guides. */
export interface Party {
  readonly shell: Shell;
  /** `participant.json`. */
  readonly me: ParticipantFile;
  readonly signingKey: CryptoKey;
  readonly signs: Snippets;
  /** Addresses: of the platform's hosts, of the bank's issuer. */
  readonly at: { readonly baseUrl: string; readonly issuer: string; readonly directoryHost: string };
  readonly dpop: { readonly key: CryptoKey; readonly jwk: jose.JWK };
}

const OBIE = "http://openbanking.org.uk";

/** Opens the folder of an onboarded participant. */
export async function openParty(
  folder: string,
  given: Pick<Party, "signs" | "at"> & { readonly env: Record<string, string> },
): Promise<Party> {
  const me = JSON.parse(await Deno.readTextFile(`${folder}/participant.json`)) as ParticipantFile;
  const { privateKey, publicKey } = await jose.generateKeyPair("PS256", { extractable: true });
  return {
    ...given,
    me,
    shell: { cwd: folder, env: { ...given.env, CLIENT_ID: me.client_id } },
    signingKey: await privateKeyOf(folder, "signing", "PS256"),
    dpop: { key: privateKey, jwk: await jose.exportJWK(publicKey) },
  };
}

export async function privateKeyOf(folder: string, name: string, alg: string): Promise<CryptoKey> {
  return await jose.importPKCS8(await Deno.readTextFile(`${folder}/${name}.key.pem`), alg);
}

/** Sets `ASSERTION` and `PROOF` for a request to the token or pushed authorization endpoint. */
export async function armForOAuth(party: Party, path: string): Promise<void> {
  const { me, signingKey, signs, at, shell } = party;
  const names = { jose, kid: me.signing_kid, clientId: me.client_id, issuer: at.issuer, signingKey };
  const block = signs.take("client-assertion", "With the jose library");
  shell.env["ASSERTION"] = await evaluate(block, names, "assertion");
  const { kty, n, e } = party.dpop.jwk;
  shell.env["PROOF"] = await new jose.SignJWT({ htm: "POST", htu: `${at.baseUrl}${path}` })
    .setProtectedHeader({ alg: "PS256", typ: "dpop+jwt", jwk: { kty, n, e } as jose.JWK })
    .setIssuedAt().setJti(crypto.randomUUID()).sign(party.dpop.key);
}

/** Sets `PROOF` for a request with this token. */
export async function armWithProof(party: Party, htm: string, path: string, token: string): Promise<void> {
  const { kty, n, e } = party.dpop.jwk;
  const names = { jose, token, htm, htu: `${party.at.baseUrl}${path}`, kty, n, e, dpopKey: party.dpop.key };
  const block = party.signs.take("dpop-proof", "With the jose library");
  party.shell.env["PROOF"] = await evaluate(block, names, "proof");
}

/** Sets `SIGNATURE` over a file of its folder, in the profile. */
export async function armWithSignature(party: Party, file: string, profile: "a" | "b"): Promise<void> {
  const { me, at, shell, signingKey } = party;
  const [iatName, issName, tanName] = [`${OBIE}/iat`, `${OBIE}/iss`, `${OBIE}/tan`];
  const claims = {
    [iatName]: Math.floor(Date.now() / 1000),
    [issName]: me.role === "PISP" ? `${me.org_id}/${me.software_client_id}` : me.org_id,
    [tanName]: at.directoryHost,
  };
  const header = {
    alg: "PS256",
    kid: me.signing_kid,
    ...(profile === "a" ? { b64: false } : {}),
    ...claims,
    crit: [...(profile === "a" ? ["b64"] : []), ...Object.keys(claims)],
  };
  const bodyBytes = await Deno.readFile(`${shell.cwd}/${file}`);
  const names = { jose, bodyBytes, header, signingKey, iatName, issName, tanName };
  const block = party.signs.take("x-jws-signature-profile-a", "With the jose library");
  shell.env["SIGNATURE"] = await evaluate(block, names, "signature");
}

/** Signs a JWT with the header that the guides describe. */
export function signClaims({ me, signingKey }: Party, claims: jose.JWTPayload): Promise<string> {
  const header = { alg: "PS256", typ: "JWT", kid: me.signing_kid };
  return new jose.SignJWT(claims).setProtectedHeader(header).sign(signingKey);
}
