/** Runs a tool that calls the operations API against a platform in this process, as its auditor. */
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { OPERATOR_TOKENS } from "testing/operators.ts";

export interface OperationsTools {
  environment(name: string): string | undefined;
  readonly fetch: typeof fetch;
}

export function operationsTools(running: Pick<Environment, "platform">): OperationsTools {
  return {
    environment: (name) => name === "PLATFORM_OPS_TOKEN" ? OPERATOR_TOKENS.auditor : undefined,
    fetch: ((url: string, init?: RequestInit) => {
      const request = new Request(url, init);
      const { browser, operations } = running.platform;
      return (url.startsWith(AUTH_URL) ? browser : operations).fetch(request);
    }) as typeof fetch,
  };
}
