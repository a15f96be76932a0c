/** The commands of `deno task participant`: create keys, send requests, write files. */
import { z } from "zod";
import { KEY_NAMES, type KeyName, type Who } from "./arguments.ts";
import type { DirectoryClient } from "./directory.ts";
import {
  type Description,
  type KeptKey,
  keyNamesOf,
  ParticipantFailure,
  readDescription,
  writeFolder,
} from "./folder.ts";
import { kidOfCertificate, type MadeKey, makeKeys } from "./keys.ts";

/** Dependencies of the commands. */
export interface Tools {
  readonly directory: DirectoryClient;
  /** The folder of this name. */
  readonly folderOf: (name: string) => string;
  readonly print: (line: string) => void;
}

const certificates = z.object({
  signing: z.string().optional(),
  transport: z.string().optional(),
  encryption: z.string().optional(),
});
const jwks = z.looseObject({ keys: z.array(z.unknown()) });
const statement = z.object({ software_statement: z.string() });
const onboarded = z.object({
  org_id: z.string(),
  software_client_id: z.string(),
  software_statement: z.string().optional(), // absent if statements need a certification
  jwks,
  certificates,
});
const issued = z.object({ certificates, jwks });
const recordSchema = z.looseObject({
  org_id: z.string(),
  org_name: z.string(),
  role: z.string(),
  software_client_id: z.string().regex(/^SC-[0-9A-Fa-f-]{36}$/),
  software: z.looseObject({ redirect_uris: z.array(z.string()) }),
});

/** Onboards a participant and writes its folder, which must not exist. */
export async function onboard(
  { directory, folderOf, print }: Tools,
  command: { readonly name: string; readonly details: unknown; readonly encryption: boolean },
): Promise<void> {
  const folder = folderOf(command.name);
  if (await readDescription(folder) !== undefined) {
    throw new ParticipantFailure(`${folder} has a participant already; take another --name, or add-keys.`);
  }
  if (typeof command.details !== "object" || command.details === null) {
    throw new ParticipantFailure("The details must be a JSON object; onboard --example prints one.");
  }
  const names: readonly KeyName[] = command.encryption ? KEY_NAMES : ["signing", "transport"];
  const made = await makeKeys(names, command.name);
  const request = { ...command.details, csrs: requestsOf(made) };
  const answer = await directory.ask(onboarded, "POST", "/participants", request);
  const keep = async (): Promise<Description> => {
    const keys = await keptKeys(made, answer.certificates);
    const description = await describe(directory, command.name, answer.org_id, kidsOf(keys));
    await writeFolder(folder, { keys, statement: answer.software_statement, jwks: answer.jwks, description });
    return description;
  };
  const { org_name } = await keep().catch((error: Error) => {
    throw new ParticipantFailure(unkept(folder, error, { name: command.name, orgId: answer.org_id, names }));
  });
  const next = answer.software_statement === undefined
    ? " It has no statement yet: record-certification, then renew-statement."
    : "";
  print(
    `${org_name} is ${answer.org_id}, its software ${answer.software_client_id}. Its files are in ${folder}.${next}`,
  );
}

// The directory has taken it in and knows these keys for ever: onboarding it again would be rejected.
function unkept(
  folder: string,
  { message }: Error,
  { name, orgId, names }: { name: string; orgId: string; names: readonly KeyName[] },
): string {
  const why = message.replace(/\.$/, "");
  const again = ["add-keys", "--name", name, "--org-id", orgId, ...names.map((key) => `--${key}`)].join(" ");
  return `${orgId} was onboarded, but ${folder} was not written (${why}); make it with ${again}`;
}

/** Fetches a newer statement, with changed software members where given. */
export async function renewStatement(
  { directory, folderOf, print }: Tools,
  command: { readonly name: string; readonly changes: unknown },
): Promise<void> {
  const folder = folderOf(command.name);
  const before = await existing(folder);
  const path = `${pathOf(before.org_id)}/statement`;
  const { software_statement } = await directory.ask(statement, "POST", path, command.changes ?? {});
  const description = await describe(directory, command.name, before.org_id, before);
  await writeFolder(folder, { statement: software_statement, description }, before);
  print(`The newer statement is ${folder}/${before.software_client_id}.jks; register with it again.`);
}

/** Adds keys beside the old ones; makes the folder again where it is missing and the org_id is given. */
export async function addKeys(
  { directory, folderOf, print }: Tools,
  command: { readonly name: string; readonly orgId?: string; readonly keys: readonly KeyName[] },
): Promise<void> {
  const folder = folderOf(command.name);
  const before = command.orgId === undefined ? await existing(folder) : await readDescription(folder);
  const orgId = before?.org_id ?? command.orgId ?? "";
  if (command.orgId !== undefined && command.orgId !== orgId) {
    throw new ParticipantFailure(`${folder} is of ${orgId}, not of ${command.orgId}.`);
  }
  const defaults: readonly KeyName[] = before === undefined ? ["signing", "transport"] : keyNamesOf(before);
  // Before the new keys: a directory that issues no statement must not leave keys behind that no folder has.
  const renewed = before === undefined
    ? (await directory.ask(statement, "POST", `${pathOf(orgId)}/statement`, {})).software_statement
    : undefined;
  const made = await makeKeys(command.keys.length > 0 ? command.keys : defaults, command.name);
  const answer = await directory.ask(issued, "POST", `${pathOf(orgId)}/certificates`, {
    csrs: requestsOf(made),
  });
  const keys = await keptKeys(made, answer.certificates);
  const description = await describe(directory, command.name, orgId, { ...kidsOf(before), ...kidsOf(keys) });
  await writeFolder(folder, { keys, statement: renewed, jwks: answer.jwks, description }, before);
  print(
    `New ${
      keys.map(({ name, kid }) => `${name} key ${kid}`).join(", ")
    }. The old keys are valid until you revoke them.`,
  );
}

/** Revokes a key for ever. */
export async function revokeKey(
  tools: Tools,
  command: { readonly who: Who; readonly kid: string; readonly reason: string },
): Promise<void> {
  const orgId = await orgIdOf(tools, command.who);
  const path = `${pathOf(orgId)}/keys/${encodeURIComponent(command.kid)}/revoke`;
  const answer = z.object({ kid: z.string(), revoked_at: z.string(), reason: z.string() });
  const { kid, revoked_at, reason } = await tools.directory.ask(answer, "POST", path, {
    reason: command.reason,
  });
  if (command.who.name !== undefined) await refreshKeySet(tools, command.who.name);
  tools.print(`Key ${kid} of ${orgId} is revoked since ${revoked_at}: ${reason}`);
}

/** Sets a status of the software or the organisation. */
export async function setStatus(
  tools: Tools,
  command: {
    readonly who: Who;
    readonly of: "software" | "organisation";
    readonly status: string;
    readonly reason: string;
  },
): Promise<void> {
  const orgId = await orgIdOf(tools, command.who);
  const path = command.of === "software" ? `${pathOf(orgId)}/software/status` : `${pathOf(orgId)}/status`;
  const { status, reason } = command;
  const answer = z.object({ org_status: z.string(), software_client_status: z.string() });
  const statuses = await tools.directory.ask(answer, "PUT", path, { status, reason });
  tools.print(`${orgId} is ${statuses.org_status}, its software ${statuses.software_client_status}.`);
}

/** Records a certification report, whose signature the directory verifies. */
export async function recordCertification(
  tools: Tools,
  command: { readonly who: Who; readonly report: string },
): Promise<void> {
  const orgId = await orgIdOf(tools, command.who);
  const answer = z.object({ suite: z.string(), passed: z.boolean(), cases: z.int(), failed: z.int() });
  const { suite, passed, cases, failed } = await tools.directory.ask(
    answer,
    "POST",
    `${pathOf(orgId)}/certifications`,
    { report: command.report },
  );
  const result = passed ? `passed (cases: ${cases})` : `not passed (cases: ${cases}, failed: ${failed})`;
  tools.print(`${suite} of ${orgId} is recorded: ${result}.`);
}

/** Prints the directory's record of a participant, or its history, as JSON. */
export async function show(
  tools: Tools,
  command: { readonly who: Who; readonly history: boolean },
): Promise<void> {
  const path = pathOf(await orgIdOf(tools, command.who));
  const answer = command.history
    ? await historyOf(tools, `${path}/history`)
    : await tools.directory.ask(z.unknown(), "GET", path);
  tools.print(JSON.stringify(answer, undefined, 2));
}

/** All pages of a history. */
async function historyOf({ directory }: Tools, path: string): Promise<readonly unknown[]> {
  const page = z.object({
    history: z.array(z.unknown()),
    is_intact: z.boolean(),
    after: z.string().optional(),
  });
  const entries: unknown[] = [];
  let after: string | undefined;
  do {
    const query = after === undefined ? "" : `?${new URLSearchParams({ after })}`;
    const answer = await directory.ask(page, "GET", path + query);
    if (!answer.is_intact) throw new ParticipantFailure("The history was altered in the database.");
    entries.push(...answer.history);
    if (answer.history.length === 0) break;
    ({ after } = answer);
  } while (after !== undefined);
  return entries;
}

type Kids = Pick<Description, "signing_kid" | "transport_kid" | "encryption_kid">;

// The description says what the directory has, not what was sent: its word is what others go by.
async function describe(
  directory: DirectoryClient,
  name: string,
  orgId: string,
  kids: Kids,
): Promise<Description> {
  const record = await directory.ask(recordSchema, "GET", pathOf(orgId));
  return {
    name,
    org_id: record.org_id,
    org_name: record.org_name,
    role: record.role,
    software_client_id: record.software_client_id,
    client_id: record.software_client_id, // Decision B6
    redirect_uris: record.software.redirect_uris,
    signing_kid: kids.signing_kid,
    transport_kid: kids.transport_kid,
    encryption_kid: kids.encryption_kid,
  };
}

async function refreshKeySet({ directory, folderOf }: Tools, name: string): Promise<void> {
  const before = await existing(folderOf(name));
  const active = await directory.ask(jwks, "GET", `${pathOf(before.org_id)}/jwks`);
  await writeFolder(folderOf(name), { jwks: active, description: before }, before);
}

async function existing(folder: string): Promise<Description> {
  const description = await readDescription(folder);
  if (description !== undefined) return description;
  throw new ParticipantFailure(`${folder} has no participant; onboard it first, or give --out.`);
}

async function orgIdOf({ folderOf }: Tools, { name, orgId }: Who): Promise<string> {
  const own = name === undefined ? undefined : (await existing(folderOf(name))).org_id;
  if (own !== undefined && orgId !== undefined && own !== orgId) {
    throw new ParticipantFailure(`${folderOf(name ?? "")} is of ${own}, not of ${orgId}.`);
  }
  return own ?? orgId ?? "";
}

function requestsOf(made: readonly MadeKey[]): Record<string, string> {
  return Object.fromEntries(made.map(({ name, requestPem }) => [name, requestPem]));
}

function keptKeys(made: readonly MadeKey[], received: z.infer<typeof certificates>): Promise<KeptKey[]> {
  return Promise.all(made.map(async (key) => {
    const certificatePem = received[key.name];
    if (certificatePem === undefined) {
      throw new ParticipantFailure(`The directory gave no ${key.name} certificate.`);
    }
    const kid = await kidOfCertificate(certificatePem, key);
    return { name: key.name, kid, privateKeyPem: key.privateKeyPem, certificatePem };
  }));
}

function kidsOf(source: readonly KeptKey[] | Description | undefined): Kids {
  if (source === undefined) return {};
  if (!("name" in source)) return Object.fromEntries(source.map(({ name, kid }) => [`${name}_kid`, kid]));
  const { signing_kid, transport_kid, encryption_kid } = source;
  return { signing_kid, transport_kid, encryption_kid };
}

function pathOf(orgId: string): string {
  return `/participants/${encodeURIComponent(orgId)}`;
}
