/** The parts of the platform that differ from runtime to runtime. Everything else is Fetch, WebCrypto and `node:` modules. */
import type { Listener, ListenerOptions } from "../../base/http/listener.ts";
import type { OpenStore } from "./own_store.ts";

export interface Runtime {
  readonly openListener: (options: ListenerOptions) => Listener | Promise<Listener>;
  readonly openStore: OpenStore;
  /** Never sends a POST a second time by itself. */
  readonly fetch: typeof globalThis.fetch;
  /** Writes some of the bytes to standard output; resolves with their number. No request waits for it. */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  /** Whether this process may read a file. It asks no one. */
  mayRead(path: string): Promise<boolean>;
  /**
   * From then on this process and its dependencies can neither read the environment nor write files, if the runtime can.
   *
   * @param keepWriting whether the process must go on connecting to a Unix domain socket, for which Deno asks the
   * permission to write it
   */
  giveUpPermissions(keepWriting: boolean): Promise<void>;
}
