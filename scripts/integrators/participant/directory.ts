/** The participants directory as its administrators' client sees it: where it is, and one JSON request at a time. */
import { z } from "zod";
import type { CommonOptions } from "./arguments.ts";
import { ParticipantFailure } from "./folder.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A directory that can be asked. */
export interface DirectoryClient {
  /**
   * Sends a request and decodes the answer.
   *
   * @throws {ParticipantFailure} where the directory is not there, rejects, or answers something else
   */
  ask<T>(schema: z.ZodType<T>, method: "GET" | "POST" | "PUT", path: string, body?: unknown): Promise<T>;
}

/** The directory's address and the right to administer it. */
interface Access {
  readonly directoryUrl: string;
  readonly adminToken: string;
}

const TIMEOUT_MS = 30_000;
const endpointsSchema = z.looseObject({ directory_url: z.string(), directory_admin_token: z.string() });
const proposalSchema = z.looseObject({ proposal_id: z.string(), expires_at: z.string() });
const rejectionSchema = z.looseObject({ error: z.string(), error_description: z.string().optional() });

/**
 * Opens the directory that flags, environment or a sandbox on this computer name, in this order.
 *
 * @throws {ParticipantFailure} where none does, or the token would travel in the clear
 */
export async function openDirectoryClient(common: CommonOptions, env: Environment): Promise<DirectoryClient> {
  const access = await findAccess(common, env);
  rejectPlainText(access.directoryUrl);
  return { ask: (schema, method, path, body) => ask(access, schema, { method, path, body }) };
}

async function findAccess(common: CommonOptions, env: Environment): Promise<Access> {
  const directoryUrl = common.directoryUrl ?? env["DIRECTORY_URL"];
  const adminToken = common.adminToken ?? env["DIRECTORY_ADMIN_TOKEN"];
  if (directoryUrl !== undefined && adminToken !== undefined) return { directoryUrl, adminToken };
  // The two belong together: a sandbox's token is never sent to another directory, nor another token to a sandbox.
  if (directoryUrl !== undefined) {
    throw new ParticipantFailure(
      "The administration token is missing: set DIRECTORY_ADMIN_TOKEN or give --admin-token.",
    );
  }
  if (adminToken !== undefined) {
    throw new ParticipantFailure(
      "The directory's address is missing: set DIRECTORY_URL or give --directory-url.",
    );
  }
  return await sandboxAccess(`${sandboxFolder(env)}/endpoints.json`);
}

async function sandboxAccess(file: string): Promise<Access> {
  try {
    const endpoints = endpointsSchema.parse(JSON.parse(await Deno.readTextFile(file)));
    return { directoryUrl: endpoints.directory_url, adminToken: endpoints.directory_admin_token };
  } catch {
    throw new ParticipantFailure(
      `No directory is known: start the sandbox (it writes ${file}), or set DIRECTORY_URL and DIRECTORY_ADMIN_TOKEN.`,
    );
  }
}

function rejectPlainText(directoryUrl: string): void {
  const url = URL.parse(directoryUrl);
  const loopback = url !== null && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && loopback)) return;
  throw new ParticipantFailure("The directory's address must be https (http only on this computer).");
}

async function ask<T>(
  access: Access,
  schema: z.ZodType<T>,
  request: { readonly method: string; readonly path: string; readonly body: unknown },
): Promise<T> {
  const response = await send(access, request);
  const answer = await decodeAnswer(response);
  if (!response.ok) throw rejected(response.status, answer);
  const proposal = response.status === 202 ? proposalSchema.safeParse(answer).data : undefined;
  if (proposal !== undefined) throw await proposedBy(access, proposal, request.body);
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new ParticipantFailure(
    `${access.directoryUrl} answered something that no participants directory answers.`,
  );
}

/** The private keys of signing requests would be lost before the approval, so their proposal is withdrawn. */
async function proposedBy(
  access: Access,
  { proposal_id: id, expires_at }: z.infer<typeof proposalSchema>,
  body: unknown,
): Promise<ParticipantFailure> {
  if (!Object.hasOwn(Object(body), "csrs")) {
    return new ParticipantFailure(
      `Nothing is changed yet: another administrator must approve the proposal ${id} until ${expires_at}.`,
    );
  }
  const why = await withdraw(access, id).then(() => undefined, ({ message }: Error) => message);
  if (why !== undefined) {
    return new ParticipantFailure(
      `The proposal ${id} was not withdrawn (${
        why.replace(/\.$/, "")
      }). Reject it, or revoke its keys if it was approved: their private keys are lost.`,
    );
  }
  return new ParticipantFailure(
    "This directory needs a second administrator for new keys: let the participant's people send their signing requests, or use the directory's console. Nothing is changed.",
  );
}

async function withdraw(access: Access, id: string): Promise<void> {
  const reason = "The command cannot keep the private keys until the approval.";
  const response = await send(access, { method: "POST", path: `/proposals/${id}/reject`, body: { reason } });
  const answer = await decodeAnswer(response);
  if (!response.ok) throw rejected(response.status, answer);
}

async function send(
  { directoryUrl, adminToken }: Access,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: unknown },
): Promise<Response> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${adminToken}`,
    accept: "application/json",
  };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(`${directoryUrl.replace(/\/$/, "")}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      redirect: "manual", // a redirect would carry the token somewhere else
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    throw new ParticipantFailure(`The directory at ${directoryUrl} cannot be reached; is it running?`);
  }
}

async function decodeAnswer(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function rejected(status: number, answer: unknown): ParticipantFailure {
  const rejection = rejectionSchema.safeParse(answer);
  if (!rejection.success) return new ParticipantFailure(`The directory answered ${status}.`);
  const { error, error_description = "no more is said" } = rejection.data;
  return new ParticipantFailure(
    `The directory rejected (${status} ${error}): ${error_description.replace(/\.$/, "")}.`,
  );
}
