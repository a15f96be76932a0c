/** Writes a generated page of `docs`, named by its task. The task formats it afterwards. */
import { ROOT } from "../sources/source_files.ts";

/** The generated pages by the task that writes each. A page's code is loaded alone, for its task has few permissions. */
export const DOCUMENTS = {
  endpoints: {
    page: "docs/endpoints.md",
    text: async (): Promise<string> => await (await import("./endpoints.ts")).endpointPage(),
  },
  "log-events": {
    page: "docs/operations/log-events.md",
    text: async (): Promise<string> => (await import("./log_events.ts")).logEventsDocument(),
  },
  reasons: {
    page: "docs/reasons.md",
    text: async (): Promise<string> => (await import("./reasons.ts")).reasonsDocument(),
  },
  storage: {
    page: "docs/storage.md",
    text: async (): Promise<string> => (await import("./storage.ts")).storageDocument(),
  },
} as const;

if (import.meta.main) {
  const { page, text } = DOCUMENTS[Deno.args[0] as keyof typeof DOCUMENTS];
  await Deno.writeTextFile(`${ROOT}${page}`, await text());
}
