/**
 * Replaces the runtime's timers, clock, randomness and cryptography. The platform gets its clock, store, network and log
 * from `compose`. The rest is global, for the platform and for its libraries.
 */
import { fastSubtle } from "./fast_crypto.ts";
import type { Random } from "../prove/random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The sources behind the replaced globals. Each run sets its own. */
export interface Runtime {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Called for an unhandled rejection. Outside of a simulation it ends the process. */
  readonly uncaught: (reason: unknown) => void;
  /** When the background work's next pass begins, in place of a second: passes without work are skipped. */
  readonly nextPass: (run: () => void) => () => void;
}

let current: Runtime | undefined;

/** Makes a run the one that timers, randomness and the clock belong to. The timers of the former one never fire. */
export function useRuntime(runtime: Runtime | undefined): void {
  current = runtime;
  timers.clear(); // they hold everything of the former run
}

function running(): Runtime {
  if (current === undefined) throw new Error("no simulation is running");
  return current;
}

/** Replaces the globals of this process; the result puts them back. */
export function installGlobals(): Disposable {
  const parts: readonly (readonly [object, string, unknown])[] = [
    [globalThis, "crypto", { subtle: fastSubtle, getRandomValues, randomUUID }],
    [globalThis, "setTimeout", setTimer],
    [globalThis, "clearTimeout", clearTimer],
    [Date, "now", () => Math.floor(running().scheduler.now())],
    [performance, "now", () => running().scheduler.now()],
    [Math, "random", () => running().random.below(2 ** 30) / 2 ** 30],
    [AbortSignal, "timeout", abortAfter],
  ];
  const listener = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    running().uncaught(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", listener);
  const before = parts.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name));
  for (const [owner, name, value] of parts) {
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  }
  return {
    [Symbol.dispose](): void {
      globalThis.removeEventListener("unhandledrejection", listener);
      parts.forEach(([owner, name], index) => {
        const descriptor = before[index];
        if (descriptor === undefined) Reflect.deleteProperty(owner, name);
        else Object.defineProperty(owner, name, descriptor);
      });
    },
  };
}

function getRandomValues<T extends Uint8Array>(bytes: T): T {
  const { random } = running();
  for (let index = 0; index < bytes.length; index++) bytes[index] = random.below(256);
  return bytes;
}

function randomUUID(): string {
  const hex = getRandomValues(new Uint8Array(16)).toHex();
  const variant = "89ab"[parseInt(hex[16] ?? "0", 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${
    hex.slice(20)
  }`;
}

/** Between two passes of the platform's background work (`background_work.ts`); no other timer is as long. */
const PASS_MS = 1000;

const timers = new Map<number, () => void>();
let lastTimer = 0;

function setTimer(run: () => void, delay = 0): number {
  const id = ++lastTimer;
  const { scheduler, nextPass } = running();
  const fire = (): void => {
    timers.delete(id);
    run();
  };
  timers.set(id, delay === PASS_MS ? nextPass(fire) : scheduler.after(delay, fire));
  return id;
}

function clearTimer(id: number | undefined): void {
  if (id === undefined) return;
  timers.get(id)?.();
  timers.delete(id);
}

const timeLimits = new WeakMap<AbortSignal, () => void>();

function abortAfter(delay: number): AbortSignal {
  const controller = new AbortController();
  const cancel = running().scheduler.after(
    delay,
    () => controller.abort(new DOMException("Signal timed out.", "TimeoutError")),
  );
  timeLimits.set(controller.signal, cancel);
  return controller.signal;
}

/** The request under this time limit was answered: the limit no longer passes. */
export function endTimeLimit(signal: AbortSignal): void {
  timeLimits.get(signal)?.();
}
