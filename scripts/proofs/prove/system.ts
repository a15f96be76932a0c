/** The system that the prover torments, with its operations API. */
import type { Store } from "../../../src/base/store/store.ts";
import type { SandboxEndpoints } from "../../../src/sandbox/shop/sandbox_endpoints.ts";
import type { ApiTools, Operator } from "../../operators/operations_api/client.ts";

export interface ProvedSystem extends AsyncDisposable {
  /** The sandbox's folder. */
  readonly dir: string;
  readonly endpoints: SandboxEndpoints;
  /** The operations API at each process of the platform, as an operator who may read cases. */
  readonly operations: readonly OperationsApi[];
  /** The processes that can be killed. One that is named twice is killed twice as often. */
  readonly targets: readonly string[];
  /** When the database lost its primary, milliseconds. */
  readonly losses: readonly number[];
  /** Resolves as soon as the parts answer that a client cannot do without. */
  ready(): Promise<void>;
  /** `kill -9` of a target, then its start. Kills of one target wait for each other. */
  kill(target: string): Promise<void>;
  /** Ends it in good order. Its files and its database stay. */
  stop(): Promise<void>;
  /** Opens the platform's store, which no process uses any more. */
  openStore(): Promise<Store>;
}

/** One process's listener, and the tools of the commands that call it. */
export interface OperationsApi {
  readonly url: string;
  readonly tools: ApiTools;
}

/** Calls it as this operator. */
export function operationsApi({ url, token }: Operator): OperationsApi {
  return { url, tools: { environment: (name) => name === "PLATFORM_OPS_TOKEN" ? token : undefined, fetch } };
}
