/** A process of the platform as the simulated parties see it. */
import type { Platform } from "../../../src/platform/process/compose.ts";

/** One process. */
export interface PlatformProcess {
  readonly number: number;
  isAlive(): boolean;
  /** Undefined until it has started. */
  platform(): Platform | undefined;
  /** Runs when the process dies; the result takes that back. */
  onDeath(run: () => void): () => void;
  kill(): void;
  clock(): number;
}

/** The processes of a run. */
export interface Cluster {
  /** A process that takes requests, or undefined while none does. */
  pick(): PlatformProcess | undefined;
  /** Kills a running process and starts another in its place after a time. */
  killOne(downFor: number): void;
  /** Kills every process, lets `meanwhile` happen, and starts them again. */
  restartAll(meanwhile: () => void): void;
  /** Sets the clock of a process forward or back. */
  stepClock(number: number, by: number): void;
}
