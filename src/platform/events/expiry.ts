/** When a TPP gets a notice that its statement, a key or a certificate ends (contract EVT17, Decision T4). No I/O. */
import { type WallTime, wireDateTime } from "../../base/kernel/clock.ts";
import { daysBefore } from "../../base/kernel/date_time.ts";
import type { Notice, NoticeId } from "./event.ts";

/** Something of a TPP that ends. */
export interface Expiring {
  readonly about: "software-statement" | "key" | "certificate";
  /** Names it among those of the TPP, such as a `kid`. */
  readonly name: string;
  /** Milliseconds. */
  readonly expiresAt: WallTime;
  /** Where the TPP sees it. */
  readonly link: string;
  /** The members of the event that identify it. */
  readonly details: Readonly<Record<string, string>>;
}

/** @param endsAt milliseconds */
export function expiringStatement(endsAt: number, link: string): Expiring {
  return { about: "software-statement", name: "software-statement", expiresAt: endsAt, link, details: {} };
}

/** Returns the end of a published key's certificate, which is the end of the key. */
export function expiringKey(
  { kid, use, expiresAt }: {
    readonly kid: string;
    readonly use: "sig" | "tls" | "enc";
    readonly expiresAt: WallTime;
  },
  link: string,
): Expiring {
  return { about: use === "tls" ? "certificate" : "key", name: kid, expiresAt, link, details: { kid, use } };
}

/** The newest notice of something that ends. */
export interface NotifiedExpiry {
  readonly name: string;
  /** Milliseconds. Something that is renewed under its name has another end. */
  readonly expiresAt: WallTime;
  /** The same for all notices of it, so that they are pushed in their order. */
  readonly id: NoticeId;
  readonly days: number;
  /** The position of the notice, milliseconds. */
  readonly position: number;
}

/** A notice that is due, and what is stored of it. */
export interface DueNotice {
  readonly notice: Notice;
  readonly notified: NotifiedExpiry;
}

/** The TPP gets one notice in each of these last days. */
export const EXPIRY_DAYS = [1, 7, 30] as const;
/** Of one TPP. The directory takes at most 40 certificates of a participant (contract DRC6). */
const MAX_SUBJECTS = 100;
const MAX_NOTIFIED = 200;

/** Returns the notices that are due at `now`, milliseconds. A notice that comes late takes the place of the earlier ones. */
export function dueNotices(
  all: readonly Expiring[],
  notified: readonly NotifiedExpiry[],
  now: WallTime,
): readonly DueNotice[] {
  const ending = all.filter(({ expiresAt }) => daysBefore(expiresAt, EXPIRY_DAYS, now) !== undefined);
  const first = ending.toSorted((one, other) => one.expiresAt - other.expiresAt).slice(0, MAX_SUBJECTS);
  return first.flatMap((one) => dueNotice(one, notified, now) ?? []);
}

function dueNotice(
  subject: Expiring,
  notified: readonly NotifiedExpiry[],
  now: WallTime,
): DueNotice | undefined {
  const { about, name, expiresAt, link, details } = subject;
  const days = daysBefore(expiresAt, EXPIRY_DAYS, now);
  const former = notified.find((one) => isOf(one, subject));
  if (days === undefined || (former !== undefined && former.days <= days)) return undefined;
  const id = former?.id ?? `t-${crypto.randomUUID()}` as const;
  const position = Math.max(now, (former?.position ?? -1) + 1); // also if the clock was put back
  const said = { expires_at: wireDateTime(expiresAt), within_days: days, ...details };
  return {
    notice: { type: `${about}-expiring`, status: "expiring", at: now, about, link, details: said },
    notified: { name, expiresAt, id, days, position },
  };
}

/** Returns what is stored after the notices. What has ended is dropped, and no more than a bound is kept. */
export function notifiedAfter(
  former: readonly NotifiedExpiry[],
  due: readonly DueNotice[],
  now: WallTime,
): readonly NotifiedExpiry[] {
  const added = due.map(({ notified }) => notified);
  const others = former.filter((one) => now < one.expiresAt && !added.some((other) => isOf(one, other)));
  return [...others, ...added].toSorted((one, other) => other.expiresAt - one.expiresAt).slice(
    0,
    MAX_NOTIFIED,
  );
}

type Named = Pick<NotifiedExpiry, "name" | "expiresAt">;

function isOf(one: Named, other: Named): boolean {
  return one.name === other.name && one.expiresAt === other.expiresAt;
}
