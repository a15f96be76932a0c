/**
 * The peer of the bench: `oidc-provider` with a SQLite file, as a team would run it that builds on a library. It answers
 * when its writes have reached the disk, and requests side by side share that wait. Reads its settings from the variable
 * `PEER`, and prints its port.
 */
import { fsync, openSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { env, stdout } from "node:process";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { Provider } from "oidc-provider";

/** Settings of the peer, from the bench. */
export interface PeerSettings {
  readonly issuer: string;
  /** Path of the SQLite file. */
  readonly file: string;
  /** Members of the client's metadata. */
  readonly client: Readonly<Record<string, unknown>>;
  /** The provider's own private key, as a JWK. */
  readonly key: Readonly<Record<string, unknown>>;
}

/** A record of `oidc-provider`, as far as it is read here. */
interface Payload {
  readonly uid?: string;
  readonly userCode?: string;
  readonly grantId?: string;
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE stored (
    model TEXT, id TEXT, payload TEXT, grant_id TEXT, expires INTEGER, PRIMARY KEY (model, id)
  ) WITHOUT ROWID;
  CREATE INDEX by_grant ON stored (grant_id) WHERE grant_id IS NOT NULL;
`;
const SCOPE = "payments";
const ALGORITHMS = ["PS256"];

const nowInSeconds = (): number => Math.floor(Date.now() / 1000);

/** The storage of `oidc-provider`, without what the flows of its browser interactions need. */
function adapterOn(database: DatabaseSync): (model: string) => Readonly<Record<string, unknown>> {
  const put = database.prepare("INSERT OR REPLACE INTO stored VALUES (?, ?, ?, ?, ?)");
  const get = database.prepare("SELECT payload FROM stored WHERE model = ? AND id = ? AND expires > ?");
  const consumed = database.prepare(
    "UPDATE stored SET payload = json_set(payload, '$.consumed', ?) WHERE model = ? AND id = ?",
  );
  const destroyed = database.prepare("DELETE FROM stored WHERE model = ? AND id = ?");
  const revoked = database.prepare("DELETE FROM stored WHERE grant_id = ?");
  const promised = (act: () => unknown): Promise<void> => Promise.resolve(void act());
  return (model) => ({
    upsert: (id: string, payload: Payload, lifetime: number) =>
      promised(() =>
        put.run(model, id, JSON.stringify(payload), payload.grantId ?? null, nowInSeconds() + lifetime)
      ),
    find(id: string) {
      const row = get.get(model, id, nowInSeconds());
      return Promise.resolve(row === undefined ? undefined : JSON.parse(String(row["payload"])));
    },
    consume: (id: string) => promised(() => consumed.run(nowInSeconds(), model, id)),
    destroy: (id: string) => promised(() => destroyed.run(model, id)),
    revokeByGrantId: (grant: string) => promised(() => revoked.run(grant)),
  });
}

/** Returns a function that resolves when what was written before has reached the disk. */
function syncedLog(file: string): () => Promise<void> {
  const [log, sync] = [openSync(`${file}-wal`, "r+"), promisify(fsync)];
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () =>
    next ??= last = last.then(() => {
      next = undefined;
      return sync(log);
    });
}

function openProvider({ issuer, file, client, key }: PeerSettings): Provider {
  const database = new DatabaseSync(file);
  database.exec(SCHEMA);
  const configuration = {
    adapter: adapterOn(database),
    clients: [client],
    jwks: { keys: [{ ...key, alg: "PS256", use: "sig" }] },
    scopes: [SCOPE],
    extraParams: ["consent_id"],
    clientAuthMethods: ["private_key_jwt"],
    enabledJWA: {
      clientAuthSigningAlgValues: ALGORITHMS,
      dPoPSigningAlgValues: ALGORITHMS,
      idTokenSigningAlgValues: ALGORITHMS,
    },
    ttl: { ClientCredentials: 3600, PushedAuthorizationRequest: 60 },
    features: {
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      devInteractions: { enabled: false },
    },
  };
  const provider = new Provider(issuer, configuration as ConstructorParameters<typeof Provider>[1]);
  const synced = syncedLog(file);
  provider.use(async (_context: unknown, next: () => Promise<void>) => {
    await next();
    await synced();
  });
  return provider;
}

const server = createServer(openProvider(JSON.parse(env["PEER"] ?? "{}") as PeerSettings).callback());
server.listen(0, "127.0.0.1", () => stdout.write(`${(server.address() as AddressInfo).port}\n`));
