/** The operations API of the system that the prover torments. */
import type { ApiTools, Operator } from "../../operators/operations_api/client.ts";

/** One process's listener, and the tools of the commands that call it. */
export interface OperationsApi {
  readonly url: string;
  readonly tools: ApiTools;
}

/** Calls it as this operator. */
export function operationsApi({ url, token }: Operator): OperationsApi {
  return { url, tools: { environment: (name) => name === "PLATFORM_OPS_TOKEN" ? token : undefined, fetch } };
}
