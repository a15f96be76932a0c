/** A directory with participants. */
import {
  type DirectoryEnvironment,
  openDirectoryEnvironment,
  thirdParty,
} from "testing/directory_environment.ts";

export async function onboarded(): Promise<DirectoryEnvironment> {
  const env = await openDirectoryEnvironment();
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  return env;
}
