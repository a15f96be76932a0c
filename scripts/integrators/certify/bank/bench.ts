/** The equipment of a bank's cases: the bank under test, and the platform's side. */
import { createLocalJWKSet, decodeJwt, type JWK } from "jose";
import { z } from "zod";
import { type AccessToken, grantClientToken } from "../../../../src/client/tpp/authorization.ts";
import { openFlow, type PaymentFlow } from "../../../../src/client/tpp/payment_journey.ts";
import { readDescription } from "../../participant/folder.ts";
import type { Case } from "../case.ts";
import { type Hook, openHook } from "./hook.ts";
import type { PlatformSide } from "./platform_side.ts";

/** The bank under test, as the directory knows it. */
export interface BankUnderTest {
  readonly code: string;
  /** Where customers arrive. */
  readonly redirectUri: string;
  /** Who shows the consent screen of an explicit consent. */
  readonly screen: "bank" | "platform";
  /** Whether customers may confirm on another device (contract ARS1). */
  readonly deliversResults: boolean;
  /** The key that handover JWTs are encrypted to. */
  readonly sealTo: JWK;
  /** Finds the keys that sign for it. */
  readonly signers: ReturnType<typeof createLocalJWKSet>;
}

export interface BankBench {
  readonly bank: BankUnderTest;
  readonly platform: PlatformSide;
  readonly hook: Hook;
  /** How long the next keys of the platform are published before they sign, seconds. */
  readonly keyLeadSeconds: number;
  flow(): Promise<PaymentFlow>;
  token(): Promise<AccessToken>;
}

export type BankCase = Case<BankBench>;

const keySetSchema = z.object({ keys: z.array(z.looseObject({ kid: z.string(), use: z.string() })) });
const statementSchema = z.looseObject({
  consent_managedby_bank: z.boolean(),
  results_on_back_channel: z.boolean().default(false),
});

/** @param folder the bank's folder below `participants/` */
export async function openBankBench(
  platform: PlatformSide,
  { folder, hookUrl, keyLeadSeconds }: {
    readonly folder: string;
    readonly hookUrl: string;
    readonly keyLeadSeconds: number;
  },
): Promise<BankBench> {
  const bank = await readBank(folder);
  const flow = onceForEachKey(platform, () => openFlow(platform.tpp, bank.code));
  return {
    bank,
    platform,
    hook: openHook(hookUrl),
    keyLeadSeconds,
    flow,
    token: onceForEachKey(platform, async () => await grantClientToken(await flow())),
  };
}

async function readBank(folder: string): Promise<BankUnderTest> {
  const facts = await readDescription(folder);
  if (facts === undefined || facts.role !== "ASPSP") throw new Error(`${folder} has no bank.`);
  const stem = `${folder}/${facts.software_client_id}`;
  const statement = statementSchema.parse(decodeJwt((await Deno.readTextFile(`${stem}.jks`)).trim()));
  const { keys } = keySetSchema.parse(JSON.parse(await Deno.readTextFile(`${stem}.jwks`)));
  const sealTo = keys.find(({ use }) => use === "enc") ?? keys.find(({ use }) => use === "tls");
  const [redirectUri] = facts.redirect_uris;
  if (sealTo === undefined || redirectUri === undefined) throw new Error(`${folder} is not complete.`);
  return {
    code: facts.org_id,
    redirectUri,
    screen: statement.consent_managedby_bank ? "bank" : "platform",
    deliversResults: statement.results_on_back_channel,
    sealTo,
    signers: createLocalJWKSet({ keys: keys.filter(({ use }) => use === "sig").map(asSigningKey) }),
  };
}

function asSigningKey({ kty, n, e, kid }: JWK): JWK {
  return { kty: kty ?? "", n: n ?? "", e: e ?? "", kid: kid ?? "", alg: "PS256" };
}

/** Makes a thing again after the platform has changed its keys, which the TPP's client keeps for a while. */
function onceForEachKey<T>(platform: PlatformSide, make: () => Promise<T>): () => Promise<T> {
  let made: { readonly kid: string; readonly thing: Promise<T> } | undefined;
  return () => {
    const { kid } = platform.signer;
    if (made?.kid !== kid) made = { kid, thing: make() };
    return made.thing;
  };
}
