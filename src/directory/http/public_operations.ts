/** Descriptions of the public endpoints for the OpenAPI document. */
import type { Endpoint } from "../../base/http/endpoint.ts";
import {
  healthy,
  htmlPage,
  participantKeys,
  participantList,
  pemText,
  revokedKeys,
  statement,
  statementKeySet,
  statusList,
} from "./answer_schema.ts";
import { type Operation, operation } from "./endpoint.ts";

/** JWK sets (RFC 7517 §8.5.2). */
export const JWK_SET_TYPE = "application/jwk-set+json";
/** PEM files. */
export const PEM_TYPE = "application/x-pem-file";

const read = (words: Omit<Operation, "method">): Endpoint["route"] =>
  operation(false, { method: "get", ...words });

/** The health endpoint, on every listener. */
export const healthRoute = read({
  id: "getHealth",
  path: "/health",
  summary: "The directory can use its database",
  description:
    "For a load balancer or an orchestrator. The public listener reads the database, the administrators' listener also writes it.",
  answer: "It can",
  content: { "application/json": healthy },
});

/** One description per endpoint. */
export const publicOperations = {
  root: read({
    id: "getRoot",
    path: "/",
    hide: true,
    summary: "Where to begin",
    status: 303,
    answer: "The list of participants",
    content: {},
  }),
  participants: read({
    id: "listParticipants",
    path: "/participants",
    summary: "Every participant, by org_id",
    description: "A page for people if `Accept` prefers text/html.",
    answer: "The participants",
    content: { "application/json": participantList, "text/html": htmlPage },
    cacheable: true,
  }),
  status: read({
    id: "getStatusList",
    path: "/status",
    summary: "Which organisations and software are active",
    description:
      "For relying parties, which fetch it every few seconds with If-None-Match. If the `version` of a participant has grown, fetch its key sets and its statement again.",
    answer: "The status list",
    content: { "application/json": statusList },
    cacheable: true,
  }),
  newestStatement: read({
    id: "getNewestStatement",
    path: "/participants/{org_id}/statement",
    summary: "The newest software statement of an active participant",
    description: "A relying party registers or updates its copy with it.",
    answer: "The statement",
    content: { "application/json": statement },
    cacheable: true,
    errors: [404],
  }),
  activeKeys: read({
    id: "getParticipantKeys",
    path: "/participants/{org_id}/jwks",
    summary: "The participant's keys that may be trusted",
    description:
      "Signing, transport and encryption keys of a participant whose organisation and software are active.",
    answer: "A JWK set; empty if the participant is not active",
    content: { [JWK_SET_TYPE]: participantKeys },
    cacheable: true,
    errors: [404],
  }),
  revokedKeys: read({
    id: "getRevokedParticipantKeys",
    path: "/participants/{org_id}/jwks/revoked",
    summary: "The participant's keys that must be rejected",
    description: "A key stays here permanently, with the time of its revocation and the reason.",
    answer: "A JWK set, each key with the time and the reason",
    content: { [JWK_SET_TYPE]: revokedKeys },
    cacheable: true,
    errors: [404],
  }),
  statementKeys: read({
    id: "getStatementKeys",
    path: "/jwks",
    summary: "The keys that verify software statements",
    description: "A next key is published before it signs.",
    answer: "A JWK set; the key that signs is first",
    content: { [JWK_SET_TYPE]: statementKeySet },
    cacheable: true,
  }),
  authority: read({
    id: "getAuthority",
    path: "/ca.pem",
    summary: "The certificate authority, followed by those above it",
    description: "A TLS proxy verifies the participants' transport certificates with it.",
    answer: "PEM",
    content: { [PEM_TYPE]: pemText },
    cacheable: true,
  }),
} as const;
