/**
 * Files that administrators and a participant's people download: certificates, key set, statement, authority. Reports are
 * for administrators alone (contract DR8).
 */
import type { Endpoint } from "../../base/http/endpoint.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { ConsoleProgram } from "../../console/program.ts";
import { activeKeys, type CertifiedKey } from "../participants/certified_key.ts";
import type { Directory } from "../changes/directory.ts";
import { asOrgId } from "../participants/identifiers.ts";
import { certificatePem, JWK_SET_TYPE, keySet, PEM_TYPE } from "../http/participant_representation.ts";
import { openNewestStatements } from "../changes/newest_statement.ts";
import type { Participant } from "../participants/participant.ts";
import { findKey, findParticipant, findReport, listKeys } from "../participants/participant_store.ts";
import { OWN_PATH } from "./people.ts";
import { consolePage, type PageContext } from "./console_page.ts";

interface File {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

type MakeFile = (participant: Participant, c: PageContext) => Promise<File | undefined>;

const ONE_PATH = "/console/participants/{org_id}";
const JWT_TYPE = "application/jwt";

export function fileRoutes(program: ConsoleProgram, directory: Directory): readonly Endpoint[] {
  const file = (path: string, make: MakeFile): readonly Endpoint[] =>
    [ONE_PATH, OWN_PATH].map((at) => fileRoute(at, path, make));
  const fileRoute = (at: string, path: string, make: MakeFile): Endpoint =>
    consolePage(program, "get", `${at}/files${path}`, async ({ person }, c) => {
      const orgId = asOrgId(person.organisation ?? c.req.param("org_id"));
      const entry = orgId === undefined ? null : await findParticipant(directory.store, orgId);
      const found = entry === null ? undefined : await make(entry.value, c);
      if (found === undefined) throw new ApiError("directory.not_found", "no such file");
      return download(c, found);
    });
  return [
    ...publishedFiles(directory).flatMap(([path, make]) => file(path, make)),
    ...file("/certificates/{kid}", async ({ orgId }, c) => {
      const key = await findKey(directory.store, orgId, c.req.param("kid") ?? "");
      return key === null
        ? undefined
        : { name: `${FILE_OF_USE[key.use]}.cert.pem`, type: PEM_TYPE, text: certificatePem(key.certificate) };
    }),
    fileRoute(ONE_PATH, "/reports/{id}", async ({ orgId }, c) => {
      const text = await findReport(directory.store, orgId, c.req.param("id") ?? "");
      return text === null ? undefined : { name: `certification-${orgId}.jwt`, type: JWT_TYPE, text };
    }),
  ];
}

/** The files that the public listener serves too. */
function publishedFiles(directory: Directory): readonly (readonly [path: string, make: MakeFile])[] {
  const { store, clock, authority } = directory;
  const statements = openNewestStatements(directory);
  return [
    ["/statement", async (participant) => {
      const text = await statements(participant);
      return text === undefined
        ? undefined
        : { name: `${participant.software.clientId}.jks`, type: JWT_TYPE, text };
    }],
    ["/keys", async (participant) => {
      const keys = activeKeys(participant, await listKeys(store, participant.orgId), clock());
      const text = JSON.stringify(keySet(keys), undefined, 2);
      return { name: `${participant.software.clientId}.jwks`, type: JWK_SET_TYPE, text };
    }],
    ["/description", async (participant) => {
      const keys = activeKeys(participant, await listKeys(store, participant.orgId), clock());
      const text = JSON.stringify(descriptionOf(participant, keys), undefined, 2);
      return { name: "participant.json", type: "application/json", text };
    }],
    ["/authority", () => Promise.resolve({ name: "ca.pem", type: PEM_TYPE, text: authority.pem })],
  ];
}

/** The file names of `deno task participant`. */
const FILE_OF_USE = { sig: "signing", tls: "transport", enc: "encryption" } as const;

/** The settings of the participant's programs beside keys and statement: the newest key of each use. */
function descriptionOf(participant: Participant, active: readonly CertifiedKey[]): object {
  const { orgId, orgName, role, software } = participant;
  const newest = active.toSorted((a, b) => a.issuedAt - b.issuedAt);
  return {
    name: orgId.toLowerCase(),
    org_id: orgId,
    org_name: orgName,
    role,
    software_client_id: software.clientId,
    client_id: software.clientId, // Decision B6
    redirect_uris: software.redirectUris,
    ...Object.fromEntries(newest.map(({ use, kid }) => [`${FILE_OF_USE[use]}_kid`, kid])),
  };
}

function download(c: PageContext, { name, type, text }: File): Response {
  return c.body(text, 200, {
    "content-type": type,
    "content-disposition": `attachment; filename="${name}"`,
    "cache-control": "no-store",
  });
}
