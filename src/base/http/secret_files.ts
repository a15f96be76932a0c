/**
 * Secrets from files: the variable `NAME_FILE` names the file that has the value of `NAME`. Service managers and container
 * engines hand over secrets in files, where neither a list of processes nor a core file's environment shows them.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/** Longer than any secret here. */
const MAX_CHARACTERS = 8192;

/** The variables that name the files of these variables. */
export function fileVariables(names: readonly string[]): readonly string[] {
  return names.map((name) => `${name}_FILE`);
}

/**
 * The environment with the secrets of its files.
 *
 * @param read returns the text of the file that the variable names. It throws if other users may open the file.
 * @param faults gets a sentence for each file that cannot be used
 */
export async function withSecretFiles(
  env: Environment,
  names: readonly string[],
  read: (variable: string, path: string) => Promise<string>,
  faults: string[],
): Promise<Environment> {
  const secrets = await Promise.all(names.map(async (name): Promise<Environment> => {
    const variable = `${name}_FILE`;
    const path = env[variable];
    if (path === undefined || path === "") return {};
    try {
      if ((env[name] ?? "") !== "") throw new Error(`${name} is set too; set one of the two`);
      // Editors and `openssl rand` end a file with a line break, which no secret has.
      const secret = (await read(variable, path)).replace(/\r?\n$/, "");
      if (secret === "" || secret.length > MAX_CHARACTERS || /[\r\n]/.test(secret)) {
        throw new Error(`the file ${path} must have one line of at most ${MAX_CHARACTERS} characters`);
      }
      return { [name]: secret };
    } catch (error) {
      faults.push(`${variable}: ${error instanceof Error ? error.message : String(error)}`);
      return {};
    }
  }));
  return Object.assign({}, env, ...secrets);
}

/**
 * Whether a service manager or a container engine has put the file there. Their folders admit this process alone, and
 * their files have modes that this process does not choose: systemd's have an access list, Kubernetes' a group.
 */
export function isHandedOver(path: string): boolean {
  return /^\/run\/(?:secrets|credentials)\/./.test(new URL(path, "file:///").pathname);
}
