/** Files for their owner alone: written whole or not at all, whatever the umask. */

/** Waits until no other command changes the file. Disposing releases it. @throws {Error} in one sentence */
export async function lockSecretFile(path: string): Promise<Disposable> {
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

/** Writes a file of mode 0600, and its folder with mode 0700 if it is missing. @throws {Error} in one sentence */
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
    if (before !== undefined) await giveTo(draft, before);
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

// An administrator of the machine changes files of the directory's own user, who must be able to read them still.
async function giveTo(path: string, { uid, gid }: Deno.FileInfo): Promise<void> {
  const made = await Deno.stat(path);
  if (uid !== made.uid || gid !== made.gid) await Deno.chown(path, uid, gid);
}
