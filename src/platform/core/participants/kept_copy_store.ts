/**
 * Stores the last fetched documents of the directory, so that a process that starts while the directory is down can
 * work. The data is public. It is parsed again in the same way as fresh documents. Documents are stored in pieces
 * below the store's value limit. The key of a piece contains the digest of the document, so pieces of two processes
 * cannot mix.
 */
import type { AgesTime } from "../../../base/kernel/clock.ts";
import { z } from "zod";
import { count, defineRecord, instant, optional, text } from "../../../base/store/record.ts";
import { sha256 } from "../../../base/kernel/identifiers.ts";
import { strictJson } from "../../../base/kernel/json.ts";
import type { Reason, Result } from "../../../base/kernel/result.ts";
import type { Log } from "../../observed/log_events.ts";
import { keptCopyKey, keptPieceKey } from "../../config/store_keys.ts";
import type { Entry, Key, Store } from "../../../base/store/store.ts";
import { commitIfUnchanged, remove, type TransactDeps } from "../../../base/store/transaction.ts";
import type { Copied, KeptCopy } from "./renewed_copy.ts";

/** Opens the storage of one document. */
export type KeepCopies = <T>(
  /** The URLs of the document. */
  name: string,
  form: {
    readonly write: (value: T) => unknown;
    readonly read: (document: unknown) => Promise<Result<T, Reason>>;
  },
) => KeptCopy<T>;

interface Head {
  readonly digest: string;
  readonly pieces: number;
  /** By the clock of ages. */
  readonly fetchedAt: AgesTime;
  readonly version?: number;
}

export const keptCopyRecord = defineRecord<Head>({
  name: "kept_copy",
  keyParts: ["SHA-256 of the document's URLs"],
  what: "The newest copy of a document of the directory: its digest, its age and the number of its pieces.",
  schema: z.looseObject({ digest: text, pieces: count, fetchedAt: instant, version: optional(count) }),
  version: 1,
  lifetime: "Kept. Replaced by newer copies.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export const keptPieceRecord = defineRecord<string>({
  name: "kept_piece",
  keyParts: ["SHA-256 of the document's URLs", "digest", "number"],
  what: "A piece of such a document.",
  schema: text,
  version: 1,
  lifetime: "Until the document is replaced.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

interface KeptCopyDeps extends TransactDeps {
  readonly log: Log;
}

/** At most 60,000 bytes, whatever the characters. */
const PIECE_CHARACTERS = 30_000;
/** Below the limit of one commit. */
const PIECES_A_COMMIT = 8;
const MAX_FORMER_PIECES = 1000;
/** An unchanged document is stored again at most this often, so its stored age may be too large by this. */
const RENEW_AFTER_MS = 60_000;

export function keepCopies(deps: KeptCopyDeps): KeepCopies {
  return (name, { write, read }) => {
    const id = sha256(name);
    return {
      async load() {
        const kept = await loadDocument(deps.store, await id);
        if (kept === undefined) return undefined;
        const value = await read(kept.document);
        const { fetchedAt, version } = kept.head;
        return value.ok ? { value: value.value, fetchedAt, version } : undefined;
      },
      async keep({ value, ...rest }) {
        try {
          await keepDocument(deps, await id, JSON.stringify(write(value)), rest);
        } catch (error) { // the copy only matters after a restart, so its caller continues
          deps.log.warn("participants.copy_not_kept", { name, error: String(error) });
        }
      },
    };
  };
}

async function loadDocument(
  store: Store,
  id: string,
): Promise<{ readonly document: unknown; readonly head: Head } | undefined> {
  const head = (await keptCopyRecord.get(store, keptCopyKey(id)))?.value;
  if (head === undefined) return undefined;
  const pieces = await store.getMany(piecesOf(id, head));
  const text = pieces.map((piece) => piece === null ? "" : keptPieceRecord.decode(piece).value).join("");
  if (await sha256(text) !== head.digest) return undefined;
  const document = strictJson(text);
  return document.ok ? { document: document.value, head } : undefined;
}

async function keepDocument(
  deps: KeptCopyDeps,
  id: string,
  text: string,
  { fetchedAt, version }: Omit<Copied<unknown>, "value">,
): Promise<void> {
  const former = await keptCopyRecord.get(deps.store, keptCopyKey(id));
  const digest = await sha256(text);
  const isSame = former?.value.digest === digest && former.value.version === version;
  if (former !== null && fetchedAt - former.value.fetchedAt < (isSame ? RENEW_AFTER_MS : 0)) return;
  const pieces = Math.ceil(text.length / PIECE_CHARACTERS);
  const head: Head = { digest, pieces, fetchedAt, ...(version === undefined ? {} : { version }) };
  const places = piecesOf(id, head);
  if (await lacksOne(deps, places)) await writePieces(deps, places, text);
  await commitHead(deps, id, former, head); // fails if another process was faster
  if (former?.value.digest !== digest) await removeOthers(deps, id, digest);
}

/** Whether a piece is missing. */
async function lacksOne({ store }: KeptCopyDeps, keys: readonly Key[]): Promise<boolean> {
  return (await store.getMany(keys)).includes(null);
}

function commitHead(
  deps: KeptCopyDeps,
  id: string,
  former: Entry<Head> | null,
  head: Head,
): Promise<boolean> {
  return commitIfUnchanged(deps, (tx) => keptCopyRecord.replace(tx, keptCopyKey(id), former, head));
}

async function writePieces(deps: KeptCopyDeps, keys: readonly Key[], document: string): Promise<void> {
  for (let start = 0; start < keys.length; start += PIECES_A_COMMIT) {
    await commitIfUnchanged(deps, (tx) => {
      keys.slice(start, start + PIECES_A_COMMIT).forEach((key, index) => {
        const from = (start + index) * PIECE_CHARACTERS;
        keptPieceRecord.set(tx, key, document.slice(from, from + PIECE_CHARACTERS));
      });
    });
  }
}

/**
 * Removes pieces of former documents, and those that a crash has left behind, if the head is still that of this document.
 * It writes the head again: another process may have written its pieces and not its head yet, whose commit then fails.
 */
async function removeOthers(deps: KeptCopyDeps, id: string, digest: string): Promise<void> {
  const head = await keptCopyRecord.get(deps.store, keptCopyKey(id));
  if (head?.value.digest !== digest) return;
  const pieces = await deps.store.list({ prefix: keptPieceKey(id), limit: MAX_FORMER_PIECES });
  const others = pieces.filter(({ key }) => key[2] !== digest);
  await commitIfUnchanged(deps, (tx) => {
    keptCopyRecord.replace(tx, keptCopyKey(id), head, head.value);
    for (const { key } of others) remove(tx, key);
  });
}

function piecesOf(id: string, { digest, pieces }: Pick<Head, "digest" | "pieces">): readonly Key[] {
  return Array.from({ length: pieces }, (_, piece) => keptPieceKey(id, digest, piece));
}
