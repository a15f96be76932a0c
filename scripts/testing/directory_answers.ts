/** The bodies of the directory's answers, from the schemas that its OpenAPI document publishes. */
import type { z } from "zod";
import type * as schemas from "../../src/directory/http/answer_schema.ts";

type Schemas = typeof schemas;
type Body<Name extends keyof Schemas> = Schemas[Name] extends z.ZodType ? z.infer<Schemas[Name]> : never;

export type Certification = Body<"certification">;
export type DirectoryHistory = Body<"history">;
export type DirectoryRecord = Body<"participantRecord">;
export type IssuedLogin = Body<"issuedLogin">;
export type KeySet = Body<"participantKeys">;
export type Onboarded = Body<"onboarded">;
export type RevokedKeySet = Body<"revokedKeys">;
export type Statement = Body<"statement">;
export type StatementKeySet = Body<"statementKeySet">;
export type StatusList = Body<"statusList">;

/** The body of a rejected request. */
export interface DirectoryError {
  readonly error: string;
  readonly error_description: string;
}

/** The body of the answer to a request, given as `METHOD path`. */
export type DirectoryBody<Request extends string> = Request extends `${infer Path}?${string}` ? BodyAt<Path>
  : BodyAt<Request>;

type One = `/participants/${string}`;
type BodyAt<Request extends string> = Request extends "GET /participants" ? Body<"participantList">
  : Request extends "GET /status" ? StatusList
  : Request extends "GET /jwks" ? StatementKeySet
  : Request extends "GET /health" ? Body<"healthy">
  : Request extends "GET /ca.pem" | "GET /" ? string
  : Request extends "GET /restored" | "POST /restored/confirm" ? Body<"restoredCopy">
  : Request extends "GET /proposals" ? Body<"proposals">
  : Request extends `POST /proposals/${string}/approve` ? Body<"approved">
  : Request extends `${string} /proposals/${string}` ? Body<"proposal">
  : Request extends "POST /participants" ? Onboarded
  : Request extends `GET ${One}/jwks/revoked` ? RevokedKeySet
  : Request extends `GET ${One}/jwks` ? KeySet
  : Request extends `GET ${One}/history${string}` | "GET /people/history" ? DirectoryHistory
  : Request extends `${string} ${One}/statement` ? Statement
  : Request extends `POST ${One}/certificates` ? Body<"certificatesAdded">
  : Request extends `POST ${One}/certifications` ? Certification
  : Request extends `GET ${One}/certifications/${string}` ? Body<"certificationReport">
  : Request extends `POST ${One}/keys/${string}/revoke` ? Body<"revokedKey">
  : Request extends `POST ${One}/logins/${string}/revoke` ? Body<"login">
  : Request extends `POST ${One}/logins` ? IssuedLogin
  : Request extends `PUT ${One}/status` ? Body<"statuses">
  : Request extends `GET ${One}` ? DirectoryRecord
  : unknown;
