/** Examines the database that a store URL names, as a program would find it at its start. Changes and makes nothing. */
import { open, stat } from "node:fs/promises";
import type { Clock } from "../kernel/clock.ts";
import { checkPostgres } from "./postgres/check_postgres.ts";
import { isPostgresUrl } from "./postgres/settings.ts";
import type { Owner } from "./store_identity.ts";
import { isUrl } from "./store_url.ts";

/** What was found. */
export interface StoreReport {
  readonly detail: string;
  /** The server's clock less this computer's. Absent for a file. */
  readonly aheadMs?: number;
}

/** @throws {Error} in one sentence, if the owner could not use the database */
export async function checkStore(url: string, owner: Owner, clock: Clock): Promise<StoreReport> {
  if (isPostgresUrl(url)) return await checkPostgres(url, owner, clock);
  return isUrl(url) || url === ":memory:" ? { detail: url } : await checkFile(url);
}

/** Another process may have the file open. Opening it here does not end that one's locks: they belong to processes. */
async function checkFile(path: string): Promise<StoreReport> {
  if (await stat(path).catch(() => undefined) === undefined) {
    const folder = await stat(path.replace(/[^/]*$/, ".")).catch(() => undefined);
    if (folder?.isDirectory() === true) return { detail: `${path}, which the first start makes` };
    throw new Error(`the folder of ${path} does not exist`);
  }
  const file = await open(path, "r+").catch(() => {
    throw new Error(`${path} cannot be read and written by this user`);
  });
  await file.close();
  return { detail: path };
}
