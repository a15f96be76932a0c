/** Opens the database that `PLATFORM_STORE_URL` names: a Deno KV or SQLite file, or PostgreSQL (decision G10). */
import { openDatabase } from "./database_file.ts";
import type { OpeningHooks } from "./file_engine.ts";
import { openPostgres } from "./postgres/open_postgres.ts";
import { isPostgresUrl } from "./postgres/settings.ts";
import type { Store } from "./store.ts";
import type { Owner } from "./store_identity.ts";

/**
 * @param url `postgres://…`, a file path (a SQLite file ends with `.sqlite`), or `:memory:`
 * @param keeps which entries of a Deno KV file may be kept in memory: this process alone changes the file
 * @throws {Error} in one sentence that names the fault and the next step
 */
export async function openStore(url: string, owner: Owner, keeps?: OpeningHooks["keeps"]): Promise<Store> {
  return isPostgresUrl(url) ? await openPostgres(url, owner) : await openDatabase(url, owner, keeps);
}
