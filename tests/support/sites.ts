/**
 * Two sites of a platform, each with a PostgreSQL server, key files and a process of its own. The link between their
 * servers is a relay. Commands of docs/operations/two_sites.md run at a site as its root would run them.
 */
import { assertEquals } from "@std/assert";
import postgres from "postgres";
import {
  giveToServer,
  initialise,
  type NodeOptions,
  type PostgresNode,
  postgresPrograms,
  startNode,
  USER,
} from "testing/postgres_node.ts";
import { present } from "testing/answers.ts";
import { migrated } from "testing/postgres_server.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { type ServedPlatform, startPlatform } from "testing/served_platform.ts";
import type { ServedFixture } from "testing/served_environment.ts";
import { openTcpRelay, type TcpRelay } from "testing/tcp_relay.ts";
import { commandsOf, runCommands } from "./drill.ts";

const FILES = ["platform-keys.json", "wrapping.keys", "operators.json", "web-ca.pem"];
const DATABASES = ["hub", "hub_keys"];
/** A chunk of at most 64 kB takes so long from site to site, milliseconds. */
const LATENCY_MS = 20;

export interface Site {
  readonly name: "hub_site1" | "hub_site2";
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly place: NodeOptions;
  /** The other site's way to this one's server. */
  readonly link: TcpRelay;
  node: PostgresNode | undefined;
  platform: ServedPlatform | undefined;
}

export interface Sites extends AsyncDisposable {
  readonly one: Site;
  readonly two: Site;
}

/** Opens both sites. Site 1 has the databases and no platform yet, site 2 has nothing. */
export async function openSites(
  fixture: ServedFixture,
  more: Readonly<Record<string, string>>,
): Promise<Sites> {
  const servers = await Deno.makeTempDir({ prefix: "two-sites-" });
  await giveToServer(servers);
  const open = (name: Site["name"]): Promise<Site> => openSite(fixture, servers, name, more);
  const [one, two] = [await open("hub_site1"), await open("hub_site2")];
  const sites = {
    one,
    two,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const site of [one, two]) {
        await lose(site);
        await site.link[Symbol.asyncDispose]();
      }
      await Deno.remove(servers, { recursive: true });
    },
  };
  try {
    await initialise(one.place.programs, one.place.data);
    await startServer(one);
    for (const name of DATABASES) {
      await one.node?.admin.unsafe(`create database ${name}`);
      await migrated(urlOf(one.place.port, name));
    }
    return sites;
  } catch (error) {
    await sites[Symbol.asyncDispose]();
    throw error;
  }
}

async function openSite(
  fixture: ServedFixture,
  servers: string,
  name: Site["name"],
  more: Readonly<Record<string, string>>,
): Promise<Site> {
  const folder = `${fixture.folder}/${name}`;
  await Deno.mkdir(folder);
  for (const file of FILES) await Deno.copyFile(`${fixture.folder}/${file}`, `${folder}/${file}`);
  const data = `${servers}/${name}`;
  const port = freePort();
  const settings = { max_connections: "60", max_slot_wal_keep_size: "1GB", wal_compression: "lz4" };
  const place = { programs: postgresPrograms() ?? "", data, log: `${data}.log`, port, settings };
  const env = Object.fromEntries(
    Object.entries({ ...fixture.env, ...more }).map((
      [key, value],
    ) => [key, value.replace(fixture.folder, folder)]),
  );
  return {
    name,
    folder,
    place,
    link: openTcpRelay(port),
    env: {
      ...env,
      PORT: String(freePort()),
      PLATFORM_OPERATIONS_PORT: String(freePort()),
      PLATFORM_OPERATORS: `${folder}/operators.json`,
      PLATFORM_STORE_URL: urlOf(port, "hub"),
      PLATFORM_DATA_KEYS_STORE: urlOf(port, "hub_keys"),
    },
    node: undefined,
    platform: undefined,
  };
}

function urlOf(port: number, database: string): string {
  return `postgres://${USER}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

export async function startServer(site: Site): Promise<PostgresNode> {
  return site.node = await startNode(site.place);
}

/** A process that does not reach its database in time ends. Its service manager starts it again. */
const STARTS = 5;

/** @throws {Error} with the words of the process if it does not listen */
export async function startSite(site: Site): Promise<void> {
  for (let starts = 1;; starts++) {
    site.platform = await startPlatform(site.folder, site.env);
    try {
      return await site.platform.ready;
    } catch (error) {
      if (starts === STARTS) throw error;
    }
  }
}

/** The platform's process and the server end as when the site has no power. The folder of the server stays. */
export async function lose(site: Site): Promise<void> {
  const { platform, node } = site;
  [site.platform, site.node] = [undefined, undefined];
  platform?.kill("SIGKILL");
  await Promise.all([platform?.ended, node?.kill()]);
}

/** Runs the page's SQL that contains these words, and returns the rows of the last statement. */
export async function sqlOnPage({ node }: Site, words: string): Promise<readonly unknown[]> {
  const page = await Deno.readTextFile(new URL("../../docs/operations/two_sites.md", import.meta.url));
  const blocks = [...page.matchAll(/^ *```sql\n(.*?)```/gms)].map(([, text = ""]) => text);
  const [block = "", ...more] = blocks.filter((text) => text.includes(words));
  assertEquals([block === "", more], [false, []], words);
  return await node?.admin.unsafe(block) ?? [];
}

/**
 * Runs the page's block of commands that contains these words at a site. Returns what they print. The test itself starts
 * the server and the platform, so that they end with it.
 */
export async function shOnPage(
  site: Site,
  words: string,
  placeholders: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { programs, data, port } = site.place;
  const own = `
    ${Deno.uid() === 0 ? "" : 'runuser() { shift 3; "$@"; }'}
    systemctl() {
      case "$*" in
        "disable --now payment-platform@*")
          kill -TERM ${site.platform?.pid ?? ""}
          while kill -0 ${site.platform?.pid ?? ""} 2>/dev/null; do sleep 0.05; done ;;
        "stop postgresql@*") runuser -u postgres -- pg_ctl stop -D "$PGDATA" -m fast -s ;;
        "stop "*) return 1 ;; # it does not wait for the end of the server
      esac
    }
    cd /`;
  const env = {
    ...site.env,
    PATH: `${programs}:${Deno.env.get("PATH") ?? ""}`,
    PGDATA: data,
    PGHOST: "127.0.0.1",
    PGPORT: String(port),
    PGUSER: USER,
    PGDATABASE: "postgres",
  };
  return await runCommands(
    { folder: site.folder, env },
    own,
    await commandsOf("two_sites.md", words, placeholders),
  );
}

/**
 * Withholds what passes from this site's server to the other one for a while, as a long way does.
 *
 * @returns the number of bytes that have passed since
 */
export function makeLong({ link }: Site): () => number {
  let passed = 0;
  link.onAnswer = async ({ length }) => {
    passed += length;
    await new Promise((resolve) => setTimeout(resolve, LATENCY_MS));
    return true;
  };
  return () => passed;
}

/** The bytes that a site's server has written to its log, and the connections of the platform to it. */
export async function usedAt(
  { node }: Site,
): Promise<{ readonly log: number; readonly connections: number }> {
  const [used] = await present(node).admin<{ log: string; connections: string }[]>`
    select pg_current_wal_lsn() - '0/0'::pg_lsn as log,
      (select count(*) from pg_stat_activity where application_name = 'hub') as connections`;
  return { log: Number(used?.log), connections: Number(used?.connections) };
}

/** Takes the link away, for good. */
export function cutLink({ link }: Site): void {
  link.onAnswer = () => false;
  link.cut();
}

/** Waits until the copy has replayed what the site's server has written so far. */
export async function untilCopied({ node }: Site, copy: Site): Promise<void> {
  const [written] = await present(node).admin<{ lsn: string }[]>`select pg_current_wal_lsn()::text as lsn`;
  for (let tries = 0; tries < 1200; tries++) {
    const [row] = await present(copy.node).admin<{ hasAll: boolean }[]>`
      select pg_last_wal_replay_lsn() >= ${written?.lsn ?? ""}::pg_lsn as "hasAll"`;
    if (row?.hasAll === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${copy.name} does not follow`);
}

/** The ids of the payments in a site's database. */
export async function paymentsAt({ place: { port } }: Site): Promise<ReadonlySet<string>> {
  const sql = postgres(urlOf(port, "hub"), { max: 1, fetch_types: false });
  try {
    const rows = await sql<{ id: string }[]>`select payment_id as id from reporting.payment`;
    return new Set(rows.map(({ id }) => id));
  } finally {
    await sql.end({ timeout: 1 });
  }
}
