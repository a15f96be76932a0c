/** A page of the browser host. */
import { AUTH_URL, type Environment } from "testing/environment.ts";

/** As browsers send it. */
export const HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

export function open(env: Environment, path: string, init: RequestInit = {}): Promise<Response> {
  return env.browser(new Request(`${AUTH_URL}${path}`, init));
}
