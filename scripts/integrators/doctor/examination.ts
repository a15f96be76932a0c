/** The examination of a participant, a platform and a bank, layer by layer. */
import { describeFailure } from "../../../src/client/tpp/failure.ts";
import type { Fetch, MutualTls } from "../../../src/client/party/http_request.ts";
import { openMutualTls } from "../../../src/client/party/mutual_tls.ts";
import type { FolderParticipant } from "../../../src/client/party/participant.ts";
import type { AccessToken, PendingAuthorization } from "../../../src/client/tpp/authorization.ts";
import type { PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import type { PaymentRequest } from "../../../src/client/tpp/payment_request.ts";
import type { Bank } from "../../../src/client/bank/bank.ts";
import { openPlatform, type PlatformAddresses } from "../../command_line/platform.ts";
import type { Description } from "../participant/folder.ts";

/** Whom to examine. */
export interface Patient {
  /** Folder with `endpoints.json`, `ca.pem` and `participants/`. */
  readonly dir: string;
  /** Folder name of the participant. */
  readonly name: string;
  /** The bank's code. */
  readonly bank: string;
  /** Folder name of a bank that the examination plays, with the code `bank`. */
  readonly ownBank?: string;
  /** How long an address that is asked without a certificate may take for an answer, ms; default {@link DEADLINE_MS}. */
  readonly deadlineMs?: number;
  /** Stands between the participant and the platform. */
  readonly proxy?: (fetch: Fetch) => Fetch;
}

/** Filled in by the layers, in their order. */
export interface Examination {
  readonly patient: Patient;
  readonly folder: string;
  readonly addresses: PlatformAddresses;
  readonly caPem: string;
  /** The platform's time, milliseconds. */
  readonly now: () => number;
  /** Frees the connections. */
  readonly close: (() => void)[];
  description?: Description;
  participant?: FolderParticipant;
  connection?: Pick<MutualTls, "fetch">;
  flow?: PaymentFlow;
  bank?: Bank;
  /** The platform's words about a token request; empty if it gave one. */
  rejection?: string;
  token?: AccessToken;
  request?: PaymentRequest;
  consentId?: string;
  pending?: PendingAuthorization;
  returned?: URL;
}

/** One layer between a participant and a payment. */
export interface Layer {
  readonly name: string;
  /** Checks it, and says what is fine. @throws {Error} what is wrong */
  readonly check: (at: Examination) => Promise<string>;
  /** The command that mends it. */
  readonly mend: (at: Examination) => string;
}

/** The fault, with a command that fits better than the layer's. */
export class Wrong extends Error {
  override readonly name = "Wrong";
  constructor(message: string, readonly mend?: string) {
    super(message);
  }
}

const DEADLINE_MS = 5000;

/** Asks an address without the participant's certificate. @throws {Wrong} if no answer comes in time */
export async function ask(
  { patient: { deadlineMs = DEADLINE_MS } }: Pick<Examination, "patient">,
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  const signal = AbortSignal.timeout(deadlineMs);
  return await fetch(url, { ...init, signal }).catch((error) => {
    const why = error instanceof Error ? error.message : error;
    throw new Wrong(`${url.split("?")[0]} does not answer: ${why}`);
  });
}

/** @throws {Wrong} if no platform is described in the folder */
export async function beginExamination(patient: Patient): Promise<Examination> {
  const { dir, name, deadlineMs } = patient;
  const platform = await openPlatform(dir, deadlineMs).catch((error) => {
    throw new Wrong(describeError(error), `${TASK} start`);
  });
  return { patient, folder: `${dir}/participants/${name}`, ...platform, close: [] };
}

/** A part that an earlier layer has found. */
export function known<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("an earlier layer was not checked");
  return part;
}

/** Opens the participant's connection through the proxy of the patient. */
export function connect(
  { patient: { proxy }, caPem, close }: Examination,
  { transport }: Pick<FolderParticipant, "transport">,
): Pick<MutualTls, "fetch"> {
  const connection = openMutualTls(transport, caPem);
  close.push(connection.close);
  return { fetch: proxy === undefined ? connection.fetch : proxy(connection.fetch) };
}

/** Describes an error in one sentence. */
export function describeError(error: unknown): string {
  return describeFailure(error);
}

/** The start of a command of the project. */
export const TASK = "npx -y deno@2.9.6 task";
