/** A browser of an administrator at the directory's console. */
import { assertEquals } from "@std/assert";
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
