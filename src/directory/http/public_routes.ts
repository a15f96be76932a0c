/** The public endpoints (Decision E2): participants, their key sets, the directory's own keys and certificate. */
import type { Context, MiddlewareHandler } from "hono";
import { accepts } from "hono/accepts";
import { answerDocument, documentStore, textDocument } from "../../base/http/public_document.ts";
import { hidden } from "../../console/paths.ts";
import { chooseLanguage, type Language } from "../../pages/language.ts";
import { FONT_CACHE, FONT_TYPE, fontFiles } from "../../pages/fonts.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { activeKeys, revokedKeys } from "../participants/certified_key.ts";
import type { Directory } from "../changes/directory.ts";
import type { Reader } from "../../base/store/store.ts";
import { JSON_TYPE } from "./admin_request.ts";
import { asOrgId } from "../participants/identifiers.ts";
import {
  JWK_SET_TYPE,
  keySet,
  PEM_TYPE,
  type PublicParticipant,
  publicParticipant,
  revokedKeySet,
} from "./participant_representation.ts";
import { openNewestStatements } from "../changes/newest_statement.ts";
import type { Participant } from "../participants/participant.ts";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { publicEndpoint } from "./endpoint.ts";
import {
  healthy,
  htmlPage,
  participantKeys,
  participantList,
  pemText,
  revokedKeys as revokedKeysSchema,
  statement,
  statementKeySet,
  statusList,
} from "./answer_schema.ts";
import type { DirectoryEnv } from "./request_context.ts";
import { findParticipant, listKeys } from "../participants/participant_store.ts";
import { openMadeOfAll, openStatusList } from "../participants/status_list.ts";
import { publishing } from "./publishing.ts";

/** A page and its content security policy. */
export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** Draws the list of participants for people. */
export type DrawList = (
  language: Language,
  directory: { readonly issuer: string; readonly environment: string },
  participants: readonly PublicParticipant[],
) => Promise<Page>;

/** Checks the database: the public listener needs reads only, the administrators' also writes. */
export function healthEndpoint(
  { store }: Directory,
  needs: "reads" | "writes",
  checks: readonly MiddlewareHandler<DirectoryEnv>[] = [],
): Endpoint {
  const isHealthy = needs === "writes" ? store.isWorking : async (): Promise<boolean> => {
    await store.get(["directory", "health"]);
    return true;
  };
  return publicEndpoint(
    {
      id: "getHealth",
      path: "/health",
      summary: "The directory can use its database",
      description:
        "For a load balancer or an orchestrator. The public listener reads the database, the administrators' listener also writes it.",
      answer: "It can",
      content: { [JSON_TYPE]: healthy },
    },
    checks,
    (c) => health(isHealthy, c),
  );
}

type PublicChecks = readonly [MiddlewareHandler<DirectoryEnv>];

/** The endpoints, for everyone. */
export function publicEndpoints(directory: Directory, draw: DrawList): readonly Endpoint[] {
  const document = documentStore();
  const checks: PublicChecks = [publishing(directory.restored)];
  return [
    healthEndpoint(directory, "reads", checks),
    publicEndpoint(
      {
        id: "getRoot",
        path: "/",
        hide: true,
        summary: "Where to begin",
        status: 303,
        answer: "The list of participants",
        content: {},
      },
      checks,
      (c) => c.redirect("/participants", 303),
    ),
    ...fontFiles("/").map(([path, bytes]): Endpoint => ({
      route: hidden("get", path),
      checks: [],
      handle: async (c: Context) =>
        answerDocument(c, await document(path, FONT_TYPE, () => bytes), FONT_CACHE),
    })),
    ...listEndpoints(directory, draw, checks),
    statementEndpoint(directory, checks),
    ...participantKeyEndpoints(directory, checks),
    ...keyEndpoints(directory, checks),
  ];
}

function listEndpoints(directory: Directory, draw: DrawList, checks: PublicChecks): readonly Endpoint[] {
  const statuses = openStatusList(directory.store);
  const everyone = openMadeOfAll(directory.store, (all) => all.map(publicParticipant));
  return [
    publicEndpoint(
      {
        id: "listParticipants",
        path: "/participants",
        summary: "Every participant, by org_id",
        description: "A page for people if `Accept` prefers text/html.",
        answer: "The participants",
        content: { [JSON_TYPE]: participantList, "text/html": htmlPage },
        cacheable: true,
      },
      checks,
      async (c) => participants(directory, draw, await everyone(), c),
    ),
    publicEndpoint(
      {
        id: "getStatusList",
        path: "/status",
        summary: "Which organisations and software are active",
        description:
          "For relying parties, which fetch it every few seconds with If-None-Match. If the `version` of a participant has grown, fetch its key sets and its statement again.",
        answer: "The status list",
        content: { [JSON_TYPE]: statusList },
        cacheable: true,
      },
      checks,
      async (c) => cacheable(c, await statuses(), JSON_TYPE, "revalidated"),
    ),
  ];
}

function statementEndpoint(directory: Directory, checks: PublicChecks): Endpoint {
  const statements = openNewestStatements(directory);
  return publicEndpoint(
    {
      id: "getNewestStatement",
      path: "/participants/{org_id}/statement",
      summary: "The newest software statement of an active participant",
      description: "A relying party registers or updates its copy with it.",
      answer: "The statement",
      content: { [JSON_TYPE]: statement },
      cacheable: true,
    },
    checks,
    async (c) => {
      const newest = await statements(await participantAt(directory.store, c));
      if (newest === undefined) throw new ApiError("directory.not_found", "not Active, or no statement yet");
      return await cacheable(c, JSON.stringify({ software_statement: newest }), JSON_TYPE, "revalidated");
    },
  );
}

function participantKeyEndpoints({ store, clock }: Directory, checks: PublicChecks): readonly Endpoint[] {
  return [
    publicEndpoint(
      {
        id: "getParticipantKeys",
        path: "/participants/{org_id}/jwks",
        summary: "The participant's keys that may be trusted",
        description:
          "Signing, transport and encryption keys of a participant whose organisation and software are active.",
        answer: "A JWK set; empty if the participant is not active",
        content: { [JWK_SET_TYPE]: participantKeys },
        cacheable: true,
      },
      checks,
      async (c) => {
        const participant = await participantAt(store, c);
        const active = activeKeys(participant, await listKeys(store, participant.orgId), clock());
        return await cacheable(c, JSON.stringify(keySet(active)), JWK_SET_TYPE, "revalidated");
      },
    ),
    publicEndpoint(
      {
        id: "getRevokedParticipantKeys",
        path: "/participants/{org_id}/jwks/revoked",
        summary: "The participant's keys that must be rejected",
        description: "A key stays here permanently, with the time of its revocation and the reason.",
        answer: "A JWK set, each key with the time and the reason",
        content: { [JWK_SET_TYPE]: revokedKeysSchema },
        cacheable: true,
      },
      checks,
      async (c) => {
        const participant = await participantAt(store, c);
        const revoked = revokedKeys(participant, await listKeys(store, participant.orgId), clock());
        return await cacheable(c, JSON.stringify(revokedKeySet(revoked)), JWK_SET_TYPE, "revalidated");
      },
    ),
  ];
}

function keyEndpoints({ statementKeys, authority }: Directory, checks: PublicChecks): readonly Endpoint[] {
  return [
    publicEndpoint(
      {
        id: "getStatementKeys",
        path: "/jwks",
        summary: "The keys that verify software statements",
        description: "A next key is published before it signs.",
        answer: "A JWK set; the key that signs is first",
        content: { [JWK_SET_TYPE]: statementKeySet },
        cacheable: true,
      },
      checks,
      (c) => cacheable(c, JSON.stringify(statementKeys.publicJwks), JWK_SET_TYPE),
    ),
    publicEndpoint(
      {
        id: "getAuthority",
        path: "/ca.pem",
        summary: "The certificate authority, followed by those above it",
        description: "A TLS proxy verifies the participants' transport certificates with it.",
        answer: "PEM",
        content: { [PEM_TYPE]: pemText },
        cacheable: true,
      },
      checks,
      (c) => cacheable(c, authority.pem, PEM_TYPE),
    ),
  ];
}

async function health(isHealthy: () => Promise<boolean>, c: Context): Promise<Response> {
  if (!await isHealthy()) {
    throw new ApiError("store.unavailable", {
      description: "The database cannot be written.",
      retryAfterSeconds: 5,
    });
  }
  c.header("cache-control", "no-store");
  return c.json({ status: "ok" });
}

async function participants(
  directory: Directory,
  draw: DrawList,
  lines: readonly PublicParticipant[],
  c: Context,
): Promise<Response> {
  c.header("vary", "Accept");
  const type = accepts(c, { header: "Accept", supports: [JSON_TYPE, "text/html"], default: JSON_TYPE });
  if (type !== "text/html") return await cacheable(c, JSON.stringify(lines), JSON_TYPE);
  c.header("vary", "Accept, Accept-Language");
  const language = chooseLanguage(c.req.header("accept-language"), c.req.query("lang"));
  const page = await draw(language, directory.terms, lines);
  c.header("content-security-policy", page.contentSecurityPolicy);
  return await cacheable(c, page.html, "text/html; charset=utf-8");
}

async function participantAt(store: Reader, c: Context): Promise<Participant> {
  const orgId = asOrgId(c.req.param("org_id"));
  const entry = orgId === undefined ? null : await findParticipant(store, orgId);
  if (entry === null) throw new ApiError("directory.not_found", "no such participant");
  return entry.value;
}

/** Public responses with short cache lifetimes and revalidation (RFC 9110 §8.8, §13.1.2; RFC 9111 §5.2). */
const CACHE_CONTROL = {
  /** May be reused for a minute without revalidation. */
  shortly: "public, max-age=60",
  /** Revalidated at each use, so that an intermediate cache cannot delay a revocation beyond Decision A9's 300 s. */
  revalidated: "public, no-cache",
} as const;

/** Returns the body, or 304 if the client already has it. */
export async function cacheable(
  c: Context,
  body: string,
  contentType: string,
  kept: keyof typeof CACHE_CONTROL = "shortly",
): Promise<Response> {
  return answerDocument(c, await textDocument(body, contentType), CACHE_CONTROL[kept]);
}
