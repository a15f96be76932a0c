/** The clock of a running sandbox, which tests move forward. */
import { assertEquals } from "@std/assert";
import { bodyOf, type SandboxTime } from "testing/answers.ts";

export interface SandboxClock {
  readonly now: () => number;
  /** Moves the clock of every process of the sandbox. Parts of a second are rounded up. */
  readonly advance: (seconds: number) => Promise<void>;
}

export function sandboxClock(
  { directory_url, directory_admin_token }: {
    readonly directory_url: string;
    readonly directory_admin_token: string;
  },
): SandboxClock {
  let aheadMs = 0;
  const headers = { authorization: `Bearer ${directory_admin_token}`, "content-type": "application/json" };
  return {
    now: () => Date.now() + aheadMs,
    async advance(seconds): Promise<void> {
      const body = JSON.stringify({ advance_seconds: Math.ceil(seconds) });
      const moved = await fetch(`${directory_url}/sandbox/clock`, { method: "POST", headers, body });
      assertEquals(moved.status, 200);
      aheadMs = (await bodyOf<SandboxTime>(moved)).ahead_seconds * 1000;
    },
  };
}
