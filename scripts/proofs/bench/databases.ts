/** A PostgreSQL server, reached over verified TLS, for the platforms that are measured. */
import { migrated } from "../../testing/postgres_server.ts";
import { openTlsPostgresServer } from "../../testing/postgres_tls.ts";

/** The variables that name the databases of a platform. */
export interface Stores {
  readonly PLATFORM_STORE_URL: string;
  readonly PLATFORM_DATA_KEYS_STORE: string;
}

export interface Databases extends AsyncDisposable {
  /** The folder of the server's data. */
  readonly data: string;
  /** Makes empty databases for one platform. */
  newStores(): Promise<Stores>;
}

export async function openDatabases(): Promise<Databases> {
  const server = await openTlsPostgresServer(["localhost"], { shared_buffers: "256MB" });
  const newDatabase = async (): Promise<string> => {
    const url = (await server.newDatabase()).replace("127.0.0.1", "localhost");
    return await migrated(url.replace("sslmode=disable", `sslrootcert=${server.authority}`));
  };
  return {
    data: `${server.folder}/data`,
    newStores: async () => ({
      PLATFORM_STORE_URL: await newDatabase(),
      PLATFORM_DATA_KEYS_STORE: await newDatabase(),
    }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
