/** The records of a registered client. */
import { z } from "zod";
import { recordedMembers } from "../../evidence/audit_trail.ts";
import {
  bankCode,
  clientId,
  count,
  defineRecord,
  flag,
  instant,
  optional,
  text,
  texts,
} from "../../../base/store/record.ts";
import type { BankClient, Client, DeletedClient } from "./client.ts";

const client = {
  clientId,
  orgId: text,
  orgName: text,
  registrationNumber: optional(text),
  softwareId: text,
  softwareName: text,
  clientUri: optional(text),
  logoUri: optional(text),
  role: z.enum(["PISP", "ASPSP"]),
  scope: z.enum(["payments", "bank"]),
  grantTypes: texts,
  redirectUris: texts,
  jwksUri: text,
  revokedJwksUri: text,
  consentManagedByBank: flag,
  resultsOnBackChannel: flag,
  paymentOrdersUri: optional(text),
  eventNotificationUri: optional(text),
  statementIssuedAt: count,
  statementSha256: text,
  registeredWith: optional(count),
  registeredAt: instant,
  updatedAt: instant,
  registration: count,
  ...recordedMembers,
};

export const clientRecord = defineRecord<Client>({
  name: "client",
  keyParts: ["client id"],
  what: "A registered client.",
  schema: z.looseObject(client),
  version: 1,
  lifetime: "Until it deletes its registration.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export const deletedClientRecord = defineRecord<DeletedClient>({
  name: "deleted_client",
  keyParts: ["client id"],
  what: "A client that has deleted its registration, and the place of the newest entry in its history.",
  schema: z.looseObject({
    deletedAt: instant,
    orgId: text,
    role: client.role,
    statementIssuedAt: count,
    registration: count,
    ...recordedMembers,
  }),
  version: 1,
  lifetime: "Until the client registers again.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export const bankRecord = defineRecord<BankClient>({
  name: "bank",
  keyParts: ["bank code"],
  what: "The client that is the bank of this code.",
  schema: z.looseObject({ ...client, role: z.literal("ASPSP"), code: bankCode }),
  version: 1,
  lifetime: "Kept.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

/** Separate from the client, which every request reads. */
export const softwareStatementRecord = defineRecord<string>({
  name: "software_statement",
  keyParts: ["client id"],
  what: "The signed software statement of a client.",
  schema: text,
  version: 1,
  lifetime: "As long as the client.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});
