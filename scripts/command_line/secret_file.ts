/** Files for their owner alone: written whole or not at all, whatever the umask. */

/**
 * Waits until no other command changes the file. Disposing releases it.
 *
 * @param mayBeNew whether the command makes the file, and its folder, if it is missing
 * @throws {Error} in one sentence
 */
export async function lockSecretFile(path: string, mayBeNew: boolean): Promise<Disposable> {
  if (!mayBeNew && await Deno.stat(path).catch(() => undefined) === undefined) {
    throw new Error(`The file ${path} cannot be read.`);
  }
  try {
    await makeFolderOf(path);
    const lock = await Deno.open(`${path}.lock`, { create: true, write: true, mode: 0o600 });
    await lock.lock(true); // the operating system releases it however the process ends
    return lock;
  } catch (error) {
    throw new Error(
      `The file ${path}.lock cannot be opened: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Writes a file of mode 0600 for {@link giveToOwner}, and its folder with mode 0700 if it is missing. @throws {Error} in one sentence */
export async function writeSecretFile(
  path: string,
  text: string,
  { replace }: { readonly replace: boolean },
): Promise<void> {
  const before = await Deno.stat(path).catch(() => undefined);
  if (!replace && before !== undefined) throw new Error(`The file ${path} exists already.`);
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    await makeFolderOf(path);
    await Deno.writeTextFile(draft, text, { mode: 0o600, createNew: true });
    await giveToOwner(draft, before);
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw new Error(`The file ${path} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}

async function makeFolderOf(path: string): Promise<void> {
  const folder = path.replace(/[^/]*$/, "");
  if (folder !== "") await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
}

/**
 * Gives a new file to the owner of the file that it replaces, or else to the owner of its folder if root has made it: an
 * administrator of the machine makes files that the service's own user must be able to read.
 */
export async function giveToOwner(path: string, before: Deno.FileInfo | undefined): Promise<void> {
  const made = await Deno.stat(path);
  if (before === undefined && made.uid !== 0) return;
  const { uid, gid } = before ?? await Deno.stat(path.replace(/[^/]*$/, "") || ".");
  if (uid !== made.uid || gid !== made.gid) await Deno.chown(path, uid, gid);
}
