/** A directory with participants. */
import type { DirectoryParts } from "../../../src/directory/process/compose_directory.ts";
import {
  type DirectoryEnvironment,
  openDirectoryEnvironment,
  thirdParty,
} from "testing/directory_environment.ts";

export async function onboarded(changes: Partial<DirectoryParts> = {}): Promise<DirectoryEnvironment> {
  const env = await openDirectoryEnvironment(changes);
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  return env;
}
