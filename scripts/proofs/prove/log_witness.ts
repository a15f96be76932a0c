/** A witness of the evidence log who looks at it during a run, as `deno task log witness` does from time to time. */
import { logCommand } from "../../operators/log/main.ts";
import type { Testimony } from "../../operators/log/witness.ts";
import { pause } from "./calls.ts";
import type { ProvedSystem } from "./system.ts";

export interface LogWitness {
  /** The findings, in order. The first checkpoint is compared with none. */
  readonly testimonies: readonly Testimony[];
  /** Compares the newest checkpoint with the last one that it saw. Looks until the platform answers, up to a minute. */
  look(): Promise<void>;
  /** Looks once, at a system of which a part may be down. */
  glance(): Promise<void>;
}

const WITHIN_MS = 60_000;
const PAUSE_MS = 250;

/** Looks at the first process's log: all processes share it. */
export function openLogWitness(
  { operations: [api], endpoints }: Pick<ProvedSystem, "operations" | "endpoints">,
): LogWitness {
  if (api === undefined) throw new Error("the platform has no operations API");
  const testimonies: Testimony[] = [];
  let file = "";
  const once = async (): Promise<void> => {
    const words: string[] = [];
    const tools = {
      ...api.tools,
      readText: () => Promise.resolve(file),
      appendText: (_: string, text: string) => Promise.resolve(void (file += text)),
      writeBytes: () => Promise.reject(new Error("the witness writes no other file")),
      print: (line: string) => void words.push(line),
    };
    const args = ["witness", "--file", "seen", "--issuer", endpoints.auth_url, "--url", api.url];
    testimonies.push({ holds: await logCommand(args, tools) !== false, words: words.join(" ") });
  };
  return {
    testimonies,
    glance: () => once().catch(() => {}), // the next look judges what this one would have seen
    async look() {
      for (const startedAt = Date.now();;) {
        try {
          return await once();
        } catch (error) {
          if (Date.now() - startedAt < WITHIN_MS) await pause(PAUSE_MS);
          else return void testimonies.push({ holds: false, words: `the log cannot be witnessed: ${error}` });
        }
      }
    },
  };
}
