/** The endings of which a participant's contacts are reminded, their days, and the mail (contract DRM1 to DRM4). No I/O. */
import { sha256 } from "../../base/kernel/identifiers.ts";
import type { CertifiedKey, KeyUse } from "../participants/certified_key.ts";
import type { CertificationTerms } from "../certification/certification.ts";
import { isTrusted, type Participant } from "../participants/participant.ts";
import type { Happening, HistoryEntry } from "../participants/history.ts";
import type { StatementTerms } from "../statements/software_statement.ts";
import { isMailAddress } from "../participants/participant_fields.ts";

/** Something that ends. */
export interface Ending {
  /** Differs from every other ending of the participant, also of a renewed one. */
  readonly id: string;
  /** As the mail names it. */
  readonly name: string;
  /** Milliseconds. */
  readonly endsAt: number;
  /** The way to renew it, for the participant's people. */
  readonly remedy: string;
}

export interface Mail {
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The same whenever this reminder is sent. */
  readonly messageId: string;
}

/** The addresses that mails name. */
export interface MailTerms {
  readonly issuer: string;
  readonly environment: string;
  /** The console's origin. */
  readonly consoleUrl: string;
  /** The mailbox of the directory's administrators. */
  readonly administrators: string;
}

const DAY_MS = 86_400_000;
const USES: Readonly<Record<KeyUse, string>> = { sig: "signing", tls: "transport", enc: "encryption" };

/** Returns the endings of a participant whose keys may be trusted. Others have none. */
export function endingsOf(
  participant: Participant,
  keys: readonly CertifiedKey[],
  { statementDays }: Pick<StatementTerms, "statementDays">,
  { requiredDays }: Pick<CertificationTerms, "requiredDays">,
): readonly Ending[] {
  if (!isTrusted(participant)) return [];
  const certificates = keys.filter(({ revoked }) => revoked === undefined).map(({ kid, use, notAfter }) => ({
    id: kid,
    name: `The certificate of the ${USES[use]} key ${kid}`,
    endsAt: notAfter,
    remedy: "Add a certificate for a new key. If you use a newer key already, revoke this one.",
  }));
  const { software: { statementIat }, certifications: [newest] = [] } = participant;
  const statement = statementIat === 0 ? [] : [{
    id: `statement ${statementIat}`,
    name: "The newest software statement",
    endsAt: (statementIat + statementDays * 86_400) * 1000,
    remedy: "Get a new statement, and register with it again.",
  }];
  const certification = requiredDays === undefined || newest?.passed !== true ? [] : [{
    id: `certification ${newest.id}`,
    name: `The certification (${newest.suite})`,
    endsAt: newest.issuedAt + requiredDays * DAY_MS,
    remedy: "Have the software certified again, and send the report to the directory's administrators.",
  }];
  return [...certificates, ...statement, ...certification];
}

/** The mail about an ending. Its headers have nothing that the participant has chosen but the org_id and addresses. */
export async function mailOf(
  participant: Participant,
  { id, name, endsAt, remedy }: Ending,
  days: number,
  terms: MailTerms,
): Promise<Mail> {
  const within = days === 1 ? "1 day" : `${days} days`;
  return await mailTo(participant, terms, { id, days, subject: `expires within ${within}` }, [
    `${name} of ${participant.orgName} (${participant.orgId}) ends on ${minute(endsAt)}.`,
    remedy,
  ]);
}

/** Something that lets others act in the participant's name, and was issued. */
export interface Issue {
  /** Differs from every other one of the participant. */
  readonly id: string;
  readonly name: string;
  /** Milliseconds. */
  readonly at: number;
  /** Who has asked for it. */
  readonly who: string;
}

/** For so long a mail about an issue is sent, for example if the mail server was away. Milliseconds. */
export const ISSUE_MAIL_MS = 7 * DAY_MS;
const ISSUED: Readonly<Partial<Record<Happening, string>>> = {
  "certificates.issued": "A certificate",
  "statement.issued": "A software statement",
  "login.issued": "A login for a person",
};

/** Returns what was issued of late (contract DRM5). */
export function issuesIn(history: readonly HistoryEntry[], now: number): readonly Issue[] {
  return history.flatMap(({ what, at, who, sequence }) => {
    const name = ISSUED[what];
    const isNew = now - at < ISSUE_MAIL_MS;
    return name === undefined || !isNew ? [] : [{ id: `issue ${sequence}`, name, at, who }];
  });
}

/** The mail about an issue. */
export async function issueMailOf(
  participant: Participant,
  { id, name, at, who }: Issue,
  terms: MailTerms,
): Promise<Mail> {
  return await mailTo(participant, terms, { id, days: 0, subject: "something was issued" }, [
    `${name} was issued for ${participant.orgName} (${participant.orgId}) on ${minute(at)}, by ${who}.`,
    "If you did not expect this, revoke it, and tell the administrators of the directory at once.",
  ]);
}

async function mailTo(
  { orgId, contacts }: Participant,
  { issuer, environment, consoleUrl, administrators }: MailTerms,
  { id, days, subject }: { readonly id: string; readonly days: number; readonly subject: string },
  text: readonly string[],
): Promise<Mail> {
  const hash = await sha256(JSON.stringify([orgId, id, days]));
  const technical = contacts.filter(({ type }) => type === "technical").map(({ email }) => email);
  const sandbox = environment === "Sandbox" ? "[Sandbox] " : "";
  return {
    to: [...new Set(technical.filter(isMailAddress))],
    cc: [administrators],
    subject: `${sandbox}${orgId}: ${subject}`,
    text: [
      ...text,
      `Sign in at ${consoleUrl}/console/own, or ask the administrators of the directory: ${administrators}.`,
      `This mail of the participants directory ${issuer} is sent once for each of its dates.`,
    ].join("\n\n"),
    messageId: `<${hash}@${new URL(issuer).hostname}>`,
  };
}

function minute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
