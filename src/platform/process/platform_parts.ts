/** What a platform is composed from. */
import type { Config } from "../config/config.ts";
import type { Credentials } from "../../base/http/credentials.ts";
import type { Signer } from "../../base/http/signer_client.ts";
import type { KeyRing } from "../../base/jose/key_ring.ts";
import type { AgesClock, Clock, MonotonicClock, SteadyClock } from "../../base/kernel/clock.ts";
import type { Probe } from "../../base/observability/health.ts";
import type { LogSink } from "../../base/observability/log.ts";
import type { SpanQueue } from "../../base/observability/spans.ts";
import type { Store } from "../../base/store/store.ts";
import type { TryLink } from "../../portal/api_reference.ts";
import type { CaseKeys } from "../evidence/data_keys/case_keys.ts";
import type { Log } from "../observed/log_events.ts";
import type { PlatformMetrics } from "../observed/metrics.ts";
import type { ProcessIdentity } from "../operations/process_store.ts";
import type { ProcessValues } from "./measured_parts.ts";

/** The inputs that differ between a test, the sandbox and production. */
export interface PlatformParts {
  readonly config: Config;
  readonly store: Store;
  /** The time of JWTs, deadlines and records, shared with participants. */
  readonly clock: Clock;
  /** Milliseconds since an arbitrary moment, never stepped: for ages and waits. */
  readonly monotonic: MonotonicClock;
  readonly fetch: typeof fetch;
  readonly log: LogSink;
  readonly keys: KeyRing;
  /** The signer that has the private keys of `keys`, if they are in a token. */
  readonly signer?: Signer | undefined;
  /** The operators with tokens of their own. Without any operators the operations API does not exist. */
  readonly operators?: Credentials | undefined;
  /** Parts of the process outside the platform, shown in its readiness. */
  readonly advisory?: Readonly<Record<string, Probe>>;
  /** Whether proxies may send requests to this process. Without it they always may. */
  readonly isServing?: () => boolean;
  /** The data keys of cases, if `store` seals personal data (`evidence/data_keys/sealed_store.ts`). */
  readonly caseKeys?: CaseKeys | undefined;
  readonly process?: ProcessValues;
  /** The sandbox's pages that try operations, which its portal links to. */
  readonly tryLink?: TryLink;
  /** Absent: operators do not see the process among the others. */
  readonly identity?: ProcessIdentity;
}

/** The inputs with what measures and times them. */
export interface TimedParts extends Omit<PlatformParts, "log"> {
  readonly log: Log;
  readonly metrics: PlatformMetrics;
  /** Undefined if no collector of spans is configured. */
  readonly spans: SpanQueue | undefined;
  /** Like `clock`, but never goes back: for ages and waits within this process. */
  readonly steady: SteadyClock;
  /** Like `steady`, but continues over a restart: for ages of stored values. */
  readonly ages: AgesClock;
}
