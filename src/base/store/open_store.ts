/** Opens the database that `STORE_URL` names: a Deno KV or SQLite file, or PostgreSQL (decision G10). */
import { openDatabase } from "./database_file.ts";
import { openPostgres } from "./postgres/open_postgres.ts";
import { isPostgresUrl } from "./postgres/settings.ts";
import type { Store } from "./store.ts";
import type { Owner } from "./store_identity.ts";

/**
 * @param url `postgres://…`, a file path (a SQLite file ends with `.sqlite`), or `:memory:`
 * @throws {Error} in one sentence that names the fault and the next step
 */
export async function openStore(url: string, owner: Owner): Promise<Store> {
  return isPostgresUrl(url) ? await openPostgres(url, owner) : await openDatabase(url, owner);
}
