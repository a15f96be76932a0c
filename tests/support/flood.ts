/** Floods a server with page requests from a separate thread. */
import type { FloodSeen } from "./flood_worker.ts";

/** A flood that can be switched on and off. */
export interface Flood extends Disposable {
  /** Resolves when the server has answered some requests. */
  start(): Promise<void>;
  /** Resolves when every request has ended. */
  stop(): Promise<FloodSeen>;
}

/** Opens a flood that requests the URLs in turn. */
export function openFlood(urls: readonly string[], perSecond: number): Flood {
  const worker = new Worker(new URL("./flood_worker.ts", import.meta.url), { type: "module" });
  const { port1: port, port2 } = new MessageChannel();
  worker.postMessage(undefined, [port2]);
  const told = (isIt: (data: unknown) => boolean): Promise<MessageEvent["data"]> =>
    new Promise((resolve, reject) => {
      port.onmessage = ({ data }) => isIt(data) ? resolve(data) : undefined;
      worker.onerror = (event) => reject(new Error(event.message));
    });
  return {
    async start(): Promise<void> {
      const felt = told((data) => data === "felt");
      port.postMessage({ urls, perSecond });
      await felt;
    },
    async stop(): Promise<FloodSeen> {
      const seen = told((data) => data !== "felt");
      port.postMessage("stop");
      return await seen;
    },
    [Symbol.dispose](): void {
      port.close();
      worker.terminate();
    },
  };
}
