/** The table of the platform's endpoints, from their declarations. */
import type { MountedEndpoint } from "../../../src/platform/guards/http/endpoint.ts";
import { openEnvironment } from "../../testing/environment.ts";

const INTRODUCTION = `# Endpoints

Every endpoint of the platform with its checks, in the order in which they run. \`deno task endpoints\` makes this
page from the declarations in the \`routes.ts\` files.

Before these checks the admission control gives the request a place in the lane of its traffic
(\`src/platform/guards/http/admission.ts\`). What each check rejects is described at the function of its name.
`;

const HOSTS = { api: "API host", browser: "Browser host", operations: "Operations host" } as const;

/** Returns the page in Markdown. */
export async function endpointPage(): Promise<string> {
  await using env = await openEnvironment();
  const sections = (["api", "browser", "operations"] as const).map((host) => {
    const rows = env.platform.endpoints[host].map(rowOf);
    return `## ${HOSTS[host]}\n\n| Endpoint | Traffic | Checks |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
  });
  return [INTRODUCTION, ...sections].join("\n");
}

function rowOf({ method, path, traffic, checks }: MountedEndpoint): string {
  const shown = path.replaceAll(/:(\w+)/g, "{$1}");
  return `| \`${method} ${shown}\` | ${traffic} | ${checks.length === 0 ? "–" : checks.join(", ")} |`;
}
