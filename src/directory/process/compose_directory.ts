/**
 * Composes the participants directory, the trust root of the ecosystem, as one Fetch handler. Loads the keys it
 * receives. Independent of the platform.
 */
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { consoleErrorPages } from "../../console/notice_page.tsx";
import { isConsolePath } from "../../console/paths.ts";
import { type Clock, monotonicClock } from "../../base/kernel/clock.ts";
import { MAX_SOFTWARE_STATEMENT_SECONDS } from "../../base/limits.ts";
import { type Endpoint, mount } from "../../base/http/endpoint.ts";
import { browserHeaders } from "../../base/http/host_middleware.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { guardStore } from "../../base/store/guarded_store.ts";
import type { Store } from "../../base/store/store.ts";
import { behind } from "../http/endpoint.ts";
import { adminEndpoints } from "../http/admin_routes.ts";
import { requireAdministrator } from "../http/admin_request.ts";
import type { Credentials } from "../../base/http/credentials.ts";
import type { CertificationTerms } from "../certification/certification.ts";
import { NO_CERTIFIERS } from "../certification/certifiers.ts";
import { type AuthorityParts, openCertificateAuthority } from "../keys/certificate_authority.ts";
import { consoleEndpoints, type ConsoleSettings } from "../console/compose_console.ts";
import { directoryConsole } from "../console/directory_console.ts";
import type { Directory } from "../changes/directory.ts";
import { openAttempts } from "../changes/record_attempt.ts";
import type { FourEyesName } from "../changes/four_eyes.ts";
import { openApprovedCalls, openConsoleCalls, type ServeInside } from "./inside_calls.ts";
import { proposalEndpoints } from "../http/proposal_routes.ts";
import { openLog } from "../../base/observability/log.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import { described } from "../http/openapi.ts";
import { answerErrors } from "../http/on_error.ts";
import type { MailSettings } from "../reminders/mail_config.ts";
import { openMailer } from "../reminders/mailer.ts";
import { openReminders, type Reminders } from "../reminders/send_reminders.ts";
import { openRestoredCopy, type RestoredCopy } from "../changes/restored_copy_store.ts";
import { limitPublic, type PublicLimit, USUAL_PUBLIC_LIMIT } from "../http/public_limit.ts";
import { publicPage } from "../console/public_page.tsx";
import { healthEndpoint, publicEndpoints } from "../http/public_routes.ts";
import { type DirectoryEnv, requestContext } from "../http/request_context.ts";
import type { StatementKeys } from "../statements/statement_keys.ts";

export interface DirectoryParts {
  /** Its public address without a trailing slash: `iss` of its statements. */
  readonly issuer: string;
  readonly administrators: Credentials;
  /** PEM of the CA certificate and of its PKCS 8 private key (RSA or ECDSA). */
  readonly ca: AuthorityParts;
  readonly statementKeys: StatementKeys;
  readonly store: Store;
  readonly clock: Clock;
  /** "Sandbox" or "Production": the environment of the software that it onboards. */
  readonly environment: string;
  /** Whether participants' addresses may be http and https on loopback; only in a sandbox. */
  readonly loopbackRedirects: boolean;
  /** Validity of certificates, days. Default 397; never beyond the CA's own. */
  readonly certificateDays?: number;
  /** The clock of the clients that verify certificates, if it is behind `clock` (as in a sandbox). */
  readonly judgesClock?: Clock;
  /** Validity of software statements, days. Default 365, at most 732. */
  readonly statementDays?: number;
  /** Whose certification reports it accepts, and whether statements need one. Default: none, and no. */
  readonly certification?: CertificationTerms;
  /** How often one client may read. Default: 50 a second, burst of 200. */
  readonly publicLimit?: PublicLimit;
  readonly log?: DirectoryLog;
  /** The changes that need two administrators. Default: none. */
  readonly fourEyes?: readonly FourEyesName[];
  /** The console. By default it is at the issuer's address, and people sign in with tokens. */
  readonly console?: ConsoleSettings;
  /** How mails are sent. Default: no mail is sent. */
  readonly mail?: MailSettings | undefined;
  /** Asks the OpenID provider. */
  readonly fetch?: typeof fetch;
}

/** @param address of the sender, if the listener knows it */
type Handler = (request: Request, address?: string) => Promise<Response>;

/** A running directory. */
export interface DirectoryApp {
  /** The public endpoints. Administrators' paths do not exist here. */
  readonly publicFetch: Handler;
  /** The administrators' endpoints and `/health` only. */
  readonly adminFetch: Handler;
  /** Both on one address, for a sandbox. */
  readonly fetch: Handler;
  /** Absent if no mail is sent. */
  readonly reminders: Reminders | undefined;
}

const DEFAULT_CERTIFICATE_DAYS = 397;
const DEFAULT_STATEMENT_DAYS = 365;
const MAX_STATEMENT_DAYS = MAX_SOFTWARE_STATEMENT_SECONDS / 86_400;
const MAX_CERTIFICATE_DAYS = 3650;

/**
 * Composes a directory.
 *
 * @throws {Error} with a message for the operator if a part is not usable; never quotes a secret
 */
export async function composeDirectory(parts: DirectoryParts): Promise<DirectoryApp> {
  const log = parts.log ?? SILENT;
  const directory = await openDirectory(parts, log);
  const rules = { environment: parts.environment, loopback: parts.loopbackRedirects };
  const { administrators, clock } = parts;
  const health = healthEndpoint(directory, "writes");
  const open = publicEndpoints(directory, publicPage);
  const limit = limitPublic(parts.publicLimit ?? USUAL_PUBLIC_LIMIT, clock);
  const administrator = requireAdministrator({ administrators, clock, log });
  const options = { rules, log, fourEyes: parts.fourEyes ?? [] };
  const serveInside: ServeInside = (endpoints, idOf) => handler(log, endpoints, { idOf });
  const changes = adminEndpoints(directory, options);
  const carryOut = openApprovedCalls(serveInside, changes);
  const recordAttempt = openAttempts(directory);
  const proposing = { directory, changes, carryOut, log, recordAttempt };
  const all = [...changes, ...proposalEndpoints(proposing)];
  const administered = behind(administrator, all);
  const pages = consoleEndpoints({
    directory,
    administrators,
    settings: parts.console ?? { url: parts.issuer },
    fetch: parts.fetch ?? fetch,
    log,
    recordAttempt,
    call: openConsoleCalls(serveInside, all),
  });
  const serve = (endpoints: readonly Endpoint[], more: HandlerOptions): Handler =>
    handler(log, [...described(parts.issuer, endpoints), ...more.pages ?? []], more);
  const drawPage = consoleErrorPages(directoryConsole(parts.environment, log, recordAttempt));
  return {
    publicFetch: serve(open, { limit }),
    adminFetch: serve([health, ...administered], { pages, drawPage }),
    fetch: serve([...open, ...administered], { pages, drawPage }),
    reminders: remindersOf(parts, directory, log),
  };
}

/** Pages of the console, also those that do not exist, have the headers of pages. */
const consoleHeaders = createMiddleware<DirectoryEnv>(async function setConsoleHeaders(c, next) {
  if (isConsolePath(c.req.path)) await browserHeaders(c, next);
  else await next();
});

/** Deno's listener passes on a Host or a target that makes no URL. */
const wellFormed = createMiddleware<DirectoryEnv>(async function requireUrl(c, next) {
  if (URL.parse(c.req.url) === null) {
    const description = "The Host header or the request target is malformed.";
    throw new ApiError("directory.invalid_request", { description });
  }
  await next();
});

interface HandlerOptions {
  readonly limit?: ReturnType<typeof limitPublic>;
  readonly pages?: readonly Endpoint[];
  readonly drawPage?: ReturnType<typeof consoleErrorPages>;
  readonly idOf?: (request: Request) => string | undefined;
}

function remindersOf(
  { mail, issuer, environment, console }: DirectoryParts,
  directory: Directory,
  log: DirectoryLog,
): Reminders | undefined {
  if (mail === undefined) return undefined;
  const { administrators, days, from } = mail;
  const terms = { issuer, environment, consoleUrl: console?.url ?? issuer, administrators };
  const send = openMailer(mail.smtp, { from, name: new URL(issuer).hostname });
  return openReminders({ directory, terms, days, send, log });
}

function handler(
  log: DirectoryLog,
  endpoints: readonly Endpoint[],
  { limit, drawPage, idOf }: HandlerOptions,
): Handler {
  const app = new Hono<DirectoryEnv>();
  app.use("*", requestContext(log, idOf));
  if (limit !== undefined) app.use("*", limit);
  if (drawPage !== undefined) app.use("*", consoleHeaders);
  app.use("*", wellFormed);
  mount(app, endpoints, () => true);
  app.onError(answerErrors(log, drawPage));
  app.all("*", () => { // a handler: an error of `notFound` would skip what the innermost middleware does after it
    throw new ApiError("request.not_found");
  });
  return async (request, address) => await app.fetch(request, address === undefined ? {} : { address });
}

async function openDirectory(parts: DirectoryParts, log: DirectoryLog): Promise<Directory> {
  const {
    issuer,
    environment,
    statementDays = DEFAULT_STATEMENT_DAYS,
    certificateDays = DEFAULT_CERTIFICATE_DAYS,
  } = parts;
  if (URL.parse(issuer) === null || /[/?#]$|[?#]/.test(issuer)) {
    throw new Error("the issuer must be a web address without a trailing slash, query and fragment");
  }
  if (!isWithin(statementDays, MAX_STATEMENT_DAYS) || !isWithin(certificateDays, MAX_CERTIFICATE_DAYS)) {
    throw new Error(
      `statements may live 1 to ${MAX_STATEMENT_DAYS} days, certificates 1 to ${MAX_CERTIFICATE_DAYS}`,
    );
  }
  const authority = await openCertificateAuthority(parts.ca, parts.clock()).catch((error: Error) => {
    throw new Error(`the CA: ${error.message}`);
  });
  const terms = { issuer, environment, statementDays };
  const { clock, judgesClock = clock, statementKeys } = parts;
  const { certification = { certifiers: NO_CERTIFIERS } } = parts;
  const store = guardStore(parts.store, {
    elapsed: monotonicClock,
    failing: (why) => log.error("directory.store_failing", { why }),
    working: (failedSeconds) => log.warn("directory.store_working", { failedSeconds }),
  });
  return {
    store,
    clock,
    authority,
    certificateDays,
    judgesClock,
    statementKeys,
    terms,
    certification,
    restored: await openRestored(store, clock, log),
    witness: (subject, { length, sha256 }) =>
      log.info("directory.history", { subject, sequence: length - 1, sha256 }),
  };
}

async function openRestored(store: Store, clock: Clock, log: DirectoryLog): Promise<RestoredCopy> {
  const restored = await openRestoredCopy(store, clock);
  const takenAt = await restored.takenAt();
  if (takenAt !== undefined) log.error("directory.restored", { takenAt: new Date(takenAt).toISOString() });
  return restored;
}

function isWithin(days: number, most: number): boolean {
  return Number.isInteger(days) && days >= 1 && days <= most;
}

const SILENT: DirectoryLog = openLog({ clock: () => 0, sink: () => {}, level: "error" });
