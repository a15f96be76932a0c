/**
 * Onboards a participant at the directory as its staff would: creates its keys and certificate signing requests, sends
 * them (Decision E1), and stores the result in the participant's folder (Decision F2). Private keys never leave that
 * folder.
 */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { z } from "zod";
import { KEY_ALGORITHM, keyPairAt, type MakeKeyPair } from "./key_files.ts";
import type { ParticipantPlan } from "./participants_plan.ts";
import {
  asJson,
  type KeyPurpose,
  makePrivateFolder,
  type ParticipantFiles,
  participantFiles,
  type SandboxFiles,
  writePublic,
} from "./sandbox_files.ts";

/** The directory to onboard at. */
export interface DirectoryAccess {
  readonly directoryUrl: string;
  readonly adminToken: string;
}

/** A participant's keys by purpose; only the purposes it has. */
export type ParticipantKeys = Readonly<Partial<Record<KeyPurpose, CryptoKeyPair>>>;

const keySchema = z.looseObject({ kid: z.string().min(1), use: z.enum(["sig", "tls", "enc"]) });
const pem = z.string().startsWith("-----BEGIN CERTIFICATE-----");
const onboardedSchema = z.object({
  org_id: z.string().min(1),
  software_client_id: z.string().regex(/^SC-[0-9A-Fa-f-]{36}$/),
  software_statement: z.string().min(1),
  jwks: z.object({ keys: z.array(keySchema).min(2) }),
  certificates: z.object({ signing: pem, transport: pem, encryption: pem.optional() }),
});
type Onboarded = z.infer<typeof onboardedSchema>;

/** Creates the participant's key pairs. `sandbox_state.ts` has already removed files of an interrupted start. */
export async function participantKeys(
  files: SandboxFiles,
  plan: ParticipantPlan,
  makeKeys?: MakeKeyPair,
): Promise<ParticipantKeys> {
  const own = participantFiles(files, plan.name);
  await makePrivateFolder(own.folder);
  const pairs = await Promise.all(
    plan.keys.map(async (purpose) => [purpose, await keyPairAt(own.key(purpose), makeKeys)]),
  );
  return Object.fromEntries(pairs);
}

/**
 * Onboards one participant and writes its files, `participant.json` last.
 * @throws {Error} with the directory's response if it rejects the participant
 */
export async function onboard(
  access: DirectoryAccess,
  files: SandboxFiles,
  plan: ParticipantPlan,
  keys: ParticipantKeys,
): Promise<void> {
  const response = await fetch(`${access.directoryUrl}/participants`, {
    method: "POST",
    headers: { "authorization": `Bearer ${access.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(await application(plan, keys)),
  });
  const text = await response.text();
  if (response.status !== 201) {
    throw new Error(`the directory rejected ${plan.name}: ${response.status} ${text.slice(0, 500)}`);
  }
  await keep(participantFiles(files, plan.name), plan, onboardedSchema.parse(JSON.parse(text)));
}

async function application(plan: ParticipantPlan, keys: ParticipantKeys): Promise<unknown> {
  const requests = await Promise.all(
    Object.entries(keys).map(async ([purpose, pair]) => [purpose, await signingRequest(plan, purpose, pair)]),
  );
  const contact = {
    name: `${plan.orgName} staff`,
    email: `staff@${plan.name}.example`,
    phone: "+44 20 7946 0000",
  };
  return {
    ...plan.orgId === undefined ? {} : { org_id: plan.orgId },
    org_name: plan.orgName,
    registration_number: plan.registrationNumber,
    role: plan.role,
    contacts: [{ type: "business", ...contact }, { type: "technical", ...contact }],
    software: {
      client_name: plan.orgName,
      description: plan.description,
      version: "1.0",
      client_uri: plan.homeUrl,
      logo_uri: plan.logoUrl,
      redirect_uris: plan.redirectUris,
      environment: "Sandbox",
    },
    ...plan.consentManagedByBank === undefined ? {} : { consent_managedby_bank: plan.consentManagedByBank },
    ...plan.resultsOnBackChannel === true ? { results_on_back_channel: true } : {},
    ...plan.paymentOrdersUri === undefined ? {} : { payment_orders_uri: plan.paymentOrdersUri },
    ...plan.eventNotificationUri === undefined ? {} : { event_notification_uri: plan.eventNotificationUri },
    csrs: Object.fromEntries(requests),
  };
}

async function signingRequest(plan: ParticipantPlan, purpose: string, keys: CryptoKeyPair): Promise<string> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ O: [plan.orgName] }, { OU: [plan.name] }, { CN: [`${plan.name} ${purpose}`] }],
    keys,
    signingAlgorithm: KEY_ALGORITHM,
  });
  return request.toString("pem");
}

async function keep(own: ParticipantFiles, plan: ParticipantPlan, onboarded: Onboarded): Promise<void> {
  const { software_client_id, certificates, jwks } = onboarded;
  await writePublic(own.statement(software_client_id), onboarded.software_statement);
  await writePublic(own.jwks(software_client_id), asJson(jwks));
  for (const purpose of plan.keys) {
    const certificate = certificates[purpose];
    if (certificate === undefined) {
      throw new Error(`the directory gave ${plan.name} no ${purpose} certificate`);
    }
    await writePublic(own.certificate(purpose), `${certificate.trimEnd()}\n`);
  }
  const description = {
    name: plan.name,
    org_id: onboarded.org_id,
    org_name: plan.orgName,
    role: plan.role,
    software_client_id,
    client_id: software_client_id, // Decision B6
    redirect_uris: plan.redirectUris,
    signing_kid: kidOf(onboarded, "sig"),
    transport_kid: kidOf(onboarded, "tls"),
    ...plan.keys.includes("encryption") ? { encryption_kid: kidOf(onboarded, "enc") } : {},
  };
  await writePublic(own.description, asJson(description));
}

function kidOf({ jwks }: Onboarded, use: "sig" | "tls" | "enc"): string {
  const key = jwks.keys.find((candidate) => candidate.use === use);
  if (key === undefined) throw new Error(`the directory gave a key set without a "${use}" key`);
  return key.kid;
}
