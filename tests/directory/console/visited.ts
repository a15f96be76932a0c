/** Browsers of administrators and of participants' people at the directory's console. */
import { assertEquals } from "@std/assert";
import type { IssuedLogin } from "testing/directory_answers.ts";
import { ConsoleBrowser } from "testing/console_browser.ts";
import { ADMIN_TOKEN, type DirectoryEnvironment } from "testing/directory_environment.ts";

export function browserOf(env: DirectoryEnvironment): ConsoleBrowser {
  return new ConsoleBrowser((request) => env.adminFetch(request));
}

/** Signs the administrator in. */
export async function signedIn(env: DirectoryEnvironment, next = "/console"): Promise<ConsoleBrowser> {
  const browser = browserOf(env);
  const path = `/console/sign-in?${new URLSearchParams({ next })}`;
  const page = await browser.submit(path, { token: ADMIN_TOKEN, next });
  assertEquals([page.status, page.headers.get("location")], [303, next]);
  return browser;
}

/** Issues a login for a person of a participant. */
export async function issue(env: DirectoryEnvironment, name = "luis", orgId = "SHOP"): Promise<IssuedLogin> {
  const { status, body } = await env.admin("POST", `/participants/${orgId}/logins`, { name });
  assertEquals(status, 201, JSON.stringify(body));
  return body;
}

/** Signs the person of a login in. */
export async function signIn(env: DirectoryEnvironment, token: string): Promise<ConsoleBrowser> {
  const browser = browserOf(env);
  const page = await browser.submit("/console/sign-in", { token });
  assertEquals([page.status, page.headers.get("location")], [303, "/console"]);
  return browser;
}
