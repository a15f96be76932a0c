/**
 * The directory's status list (Decision A9): the status of each organisation and software, and the newest version of
 * its keys and statement. It is fetched every 10 s, so that changes in the directory take effect here within 15 s. It
 * is trusted for at most 900 s.
 */
import { z } from "zod";
import type { AgesClock } from "../../../base/kernel/clock.ts";
import { asClientId, type ClientId } from "../../../base/kernel/identifiers.ts";
import { because, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import type { Log } from "../../observed/log_events.ts";
import type { Standing, StandingOf } from "../../guards/security/standing.ts";
import type { FetchIfChanged } from "./guarded_fetch.ts";
import type { KeepCopies } from "./kept_copy_store.ts";
import { renewedCopy, type Urgency } from "./renewed_copy.ts";

/** The directory's entry for a software and its organisation. */
export interface ListedStatus {
  readonly clientId: ClientId;
  readonly orgId: string;
  readonly standing: Standing;
  /** Changes with every change of keys, statuses or the statement. */
  readonly version: number;
  /** Unix seconds, `iat` of the newest statement. */
  readonly statementIssuedAt: number;
}

/** The last known list. `find` throws `platform.unavailable` without a fresh enough copy. */
export interface StatusList {
  /**
   * Returns undefined for a software that is not listed. `at once` and `soon` fetch the list again, if the directory
   * is known to have the software.
   */
  find(clientId: ClientId, urgency?: Urgency): Promise<ListedStatus | undefined>;
  /** Like `find` without waiting, from a copy of any age. */
  peek(clientId: ClientId): ListedStatus | undefined;
  /** Whether a software of the organisation is listed. A copy of any age that lists it is enough. */
  hasOrganisation(orgId: string): Promise<boolean>;
  /** Returns the software of the organisation, from a copy of any age if it lists some. */
  softwareOf(orgId: string): Promise<readonly ClientId[]>;
  /** For background work: renews the list if that is due, and returns the changed entries. */
  refresh(): Promise<readonly ListedStatus[]>;
  /** Returns the list's age in seconds if it could not be renewed recently, else undefined. */
  failingSeconds(): number | undefined;
}

export interface StatusListDeps {
  readonly fetchIfChanged: FetchIfChanged;
  readonly ages: AgesClock;
  readonly keep: KeepCopies;
  readonly log: Log;
  readonly url: string;
}

type Statuses = ReadonlyMap<ClientId, ListedStatus>;

/**
 * Background work fetches every 10 s. If it does not run, requests do: a fetch of at most 2 s that starts at an age
 * of 13 s still ends within 15 s.
 */
const TIMES = { fresh: 13_000, retry: 10_000 } as const;
/** Enough for about 45,000 participants. */
const MAX_BYTES = 8_388_608;

const documentSchema = z.object({ participants: z.array(z.unknown()) });
const entrySchema = z.object({
  org_id: z.string(),
  org_status: z.string(),
  software_client_id: z.string(),
  software_client_status: z.string(),
  version: z.int(),
  statement_issued_at: z.int(),
});

/** Opens the list. The first fetch happens at the first read. */
export function openStatusList(deps: StatusListDeps): StatusList {
  const { ages, url } = deps;
  const kept = deps.keep<Statuses>(url, {
    write: encode,
    read: (document) => Promise.resolve(decode(document)),
  });
  const copy = renewedCopy<Statuses>({ ages, name: url, times: TIMES, fetch: conditionalFetch(deps), kept });
  let followed: Statuses | undefined; // by background work: a request may have fetched a newer one since
  return {
    find: (clientId, urgency) => copy.find((statuses) => statuses.get(clientId), urgency),
    peek: (clientId) => copy.peek()?.get(clientId),
    async hasOrganisation(orgId) {
      const listedIn = (statuses: Statuses): ListedStatus | undefined =>
        statuses.values().find((one) => one.orgId === orgId);
      const known = copy.peek();
      return (known === undefined ? undefined : listedIn(known)) !== undefined ||
        await copy.find(listedIn, "soon") !== undefined;
    },
    async softwareOf(orgId) {
      const listedIn = (statuses: Statuses): readonly ClientId[] =>
        statuses.values().filter((one) => one.orgId === orgId).map(({ clientId }) => clientId).toArray();
      const known = copy.peek();
      return known === undefined ? await copy.find(listedIn, "soon") ?? [] : listedIn(known);
    },
    async refresh() {
      const before = followed ?? copy.peek();
      await copy.refresh();
      const now = followed = copy.peek();
      return before === undefined || now === undefined || now === before ? [] : findChanges(before, now);
    },
    failingSeconds: copy.failingSeconds,
  };
}

/** Keeps the last valid document and its entity tag in memory. */
function conditionalFetch(
  { fetchIfChanged, url, log }: StatusListDeps,
): (former: Statuses | undefined) => Promise<Result<Statuses, Reason>> {
  let known: { readonly statuses: Statuses; readonly etag: string | undefined } | undefined;
  return async (former) => {
    const fetched = await fetchIfChanged(url, { etag: known?.etag, maxBytes: MAX_BYTES });
    const statuses = !fetched.ok
      ? fetched
      : fetched.value.unchanged
      ? known === undefined ? because("304 without a copy") : ok(known.statuses)
      : decode(fetched.value.value);
    if (!statuses.ok) log.warn("participants.status_list_unavailable", { url, why: statuses.fault.why });
    else if (former !== undefined && former.size > 0 && statuses.value.size === 0) {
      log.error("participants.status_list_emptied", { url });
      return because("no participant is listed"); // participants that leave are listed as withdrawn
    } else if (fetched.ok && !fetched.value.unchanged) {
      known = { statuses: statuses.value, etag: fetched.value.etag };
    }
    return statuses;
  };
}

/** Skips an entry that cannot be decoded or whose software is listed twice, so that it does not affect the others. */
function decode(document: unknown): Result<Statuses, Reason> {
  const list = documentSchema.safeParse(document);
  if (!list.success) return because("no status list");
  const entries = list.data.participants.flatMap(decodeEntry);
  const statuses = new Map(entries.map((entry) => [entry.clientId, entry]));
  for (const entry of entries) { // the map has the last one of a software
    if (statuses.get(entry.clientId) !== entry) statuses.delete(entry.clientId);
  }
  return ok(statuses);
}

/** Encodes the list in the directory's format. */
function encode(statuses: Statuses): unknown {
  const participants = [...statuses.values()].map(({ clientId, orgId, standing, ...entry }) => ({
    org_id: orgId,
    org_status: standing === "active" ? "Active" : standing === "withdrawn" ? "Withdrawn" : "Suspended",
    software_client_id: clientId,
    software_client_status: "Active",
    version: entry.version,
    statement_issued_at: entry.statementIssuedAt,
  }));
  return { participants };
}

function decodeEntry(value: unknown): ListedStatus[] {
  const entry = entrySchema.safeParse(value);
  const clientId = entry.success ? asClientId(entry.data.software_client_id) : undefined;
  if (!entry.success || clientId === undefined) return [];
  const { org_id: orgId, version, statement_issued_at: statementIssuedAt } = entry.data;
  const standing = standingOf(entry.data.org_status, entry.data.software_client_status);
  return [{ clientId, orgId, standing, version, statementIssuedAt }];
}

/** Active requires exactly these two values together. */
function standingOf(organisation: string, software: string): Standing {
  if (organisation === "Active" && software === "Active") return "active";
  return organisation === "Withdrawn" || software === "Revoked" ? "withdrawn" : "suspended";
}

function findChanges(before: Statuses, now: Statuses): ListedStatus[] {
  return [...now.values()].filter(({ clientId, version }) => before.get(clientId)?.version !== version);
}

/**
 * Determines the standing from the directory alone. A software that is not listed, or is listed under another
 * organisation, is not active. A registered software was listed when it registered, perhaps at another process a moment
 * ago, so the list is fetched again soon.
 */
export function standingBy(statuses: Pick<StatusList, "find">): StandingOf {
  return async ({ clientId, orgId }) => {
    const listed = await statuses.find(clientId, "soon");
    return listed?.orgId === orgId ? listed.standing : "suspended";
  };
}
