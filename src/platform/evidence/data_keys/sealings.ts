/**
 * How each record with personal data of customers is sealed. Only listed members stay readable, such as ids, statuses,
 * times and amounts: what is not listed is sealed.
 */
import type { Key } from "../../../base/store/store.ts";
import { type CaseId, caseIdOf } from "./case_keys.ts";
import type { Members, Sealing } from "./sealing_store.ts";

const RECORDED = ["v", "recorded", "sequence", "newest"];
const EVIDENCE = ["v", "personalData"];
const CONSENT = [
  ...RECORDED,
  "id",
  "clientId",
  "bank",
  "status",
  "createdAt",
  "statusUpdatedAt",
  "authoriseBy",
  "sentToBank",
  "sessionsAtBank",
  "personalData",
];
const PAYMENT = [
  ...RECORDED,
  "id",
  "consentId",
  "clientId",
  "bank",
  "readRefundAccount",
  "status",
  "closedAt",
  "charges",
  "createdAt",
  "statusUpdatedAt",
  "personalData",
];
const SESSION = [
  "v",
  "correlationId",
  "stage",
  "clientId",
  "bank",
  "consentId",
  "requestHash",
  "bindingHash",
  "debtorAccountPresent",
  "uiLocales",
  "parties",
  "expiresAt",
  "outcome", // encrypted by itself
];

/** The places of evidence begin with the id of its consent or payment. */
const evidence: Sealing = {
  record: "evidence",
  caseOf: (key) => caseIdOf((key[1] ?? "").split(" ")[0] ?? ""),
  divide: (value) => split(value, EVIDENCE),
};

/** Entries are listed by hundreds, also those of many cases, and their readers want no evidence. */
const entry: Sealing = {
  record: "audit",
  isClosedInLists: true,
  caseOf: ofOwnId,
  divide({ body, ...open }) {
    return { open, sealed: body === undefined ? {} : { body } };
  },
};

const consent: Sealing = {
  record: "consent",
  caseOf: ofOwnId,
  divide(value) {
    const { open, sealed } = split(value, CONSENT);
    const initiation = members(members(members(value["request"])["Data"])["Initiation"]);
    const request = { Data: { Initiation: openInitiation(initiation) }, Risk: {} };
    return { open: { ...open, request }, sealed: isErased(open) ? {} : sealed };
  },
};

const payment: Sealing = {
  record: "payment",
  caseOf: ofOwnId,
  divide(value) {
    const { open, sealed } = split(value, PAYMENT);
    const initiation = openInitiation(members(value["initiation"]));
    const debtorAccount = { SchemeName: "", Identification: "" };
    return { open: { ...open, initiation, debtorAccount }, sealed: isErased(open) ? {} : sealed };
  },
};

const session: Sealing = {
  record: "authorization_session",
  caseOf: (_key, { consentId }) => typeof consentId === "string" ? caseIdOf(consentId) : undefined,
  divide: (value) => split(value, SESSION),
};

/** The reason of a rejected payment is a text of the bank and may name a person. */
const events = ["event", "event_finished"].map((record): Sealing => ({
  record,
  caseOf: (_key, { consentId }) => typeof consentId === "string" ? caseIdOf(consentId) : undefined,
  divide({ reason, ...open }) {
    return { open, sealed: reason === undefined ? {} : { reason } };
  },
}));

/** So may what a bank writes with a 4xx. */
const order: Sealing = {
  record: "outbox",
  caseOf: ofOwnId,
  divide({ bankText, ...open }) {
    return { open, sealed: bankText === undefined ? {} : { bankText } };
  },
};

export const sealings: readonly Sealing[] = [evidence, entry, consent, payment, session, ...events, order];

function ofOwnId(key: Key): CaseId | undefined {
  return caseIdOf(key[1] ?? "");
}

/** The amount, and whether the TPP named the account that pays: views of the database show both. */
function openInitiation({ InstructedAmount, DebtorAccount }: Members): Members {
  return withoutUndefined({ InstructedAmount, DebtorAccount: DebtorAccount === undefined ? undefined : {} });
}

function isErased({ personalData }: Members): boolean {
  return members(personalData)["state"] === "erased";
}

function members(value: unknown): Members {
  return (value ?? {}) as Members;
}

function split(value: Members, readable: readonly string[]): { open: Members; sealed: Members } {
  const all = Object.entries(withoutUndefined(value));
  const [open, sealed] = [true, false].map((is) => all.filter(([name]) => readable.includes(name) === is));
  return { open: Object.fromEntries(open ?? []), sealed: Object.fromEntries(sealed ?? []) };
}

function withoutUndefined(all: Members): Members {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
