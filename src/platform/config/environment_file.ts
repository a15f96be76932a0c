/** Names in `.env` that the platform would pass over in silence. */

const PREFIX = "PLATFORM_";

/** Variables of the commands beside the platform that `.env` may have too. */
const OF_COMMANDS = ["PLATFORM_BACKENDS", "PLATFORM_OPS_TOKEN"];

/**
 * @param text of `.env`
 * @param variables those of the platform
 * @returns a fault for each name with the platform's prefix that is no variable of it, and for each variable that was
 *   written without the prefix
 */
export function nameFaults(text: string, variables: readonly string[]): string[] {
  const known = new Set([...variables, ...OF_COMMANDS]);
  const names = [...text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=/gm)].map(([, name = ""]) =>
    name
  );
  return [...new Set(names)].flatMap((name) => {
    if (known.has(name)) return [];
    if (name.startsWith(PREFIX)) return [`${name} is no variable of the platform`];
    // DIRECTORY_ISSUER may be the directory's own.
    const meant = name.startsWith("DIRECTORY_") ? undefined : PREFIX + name;
    return meant !== undefined && known.has(meant) ? [`${name} is not read; name it ${meant}`] : [];
  });
}
