/**
 * `deno task proxy-config`: fills the reference configurations of nginx and HAProxy in. The files hold the proxy's
 * secret and are made for their owner alone. Starts nothing and reloads nothing.
 */
import { type ProxyName, type ProxyOrder, readOrder, type Settings, USAGE } from "./settings.ts";

/** The templates of each proxy; a file is named like its template. */
const TEMPLATES: Readonly<Record<ProxyName, readonly string[]>> = {
  nginx: ["nginx.conf"],
  haproxy: ["haproxy.cfg", "haproxy.crt_list"],
};

/** What is read from the environment: the platform's own variables. */
const VARIABLES = ["BASE_URL", "AUTH_URL", "HOST", "PORT", "PROXY_SECRET"];

/** A template with its placeholders filled in. @throws {Error} where one has no value */
export function fillIn(template: string, settings: Settings): string {
  return template.replaceAll(/\{\{([A-Z_]+)\}\}/g, (_, name: string) => {
    const value = settings[name];
    if (value === undefined) throw new Error(`the template asks for ${name}, which nothing gives`);
    return value;
  });
}

/** Writes the files of an order; gives their paths. */
export async function render({ proxy, out, settings }: ProxyOrder): Promise<string[]> {
  const paths: string[] = [];
  for (const name of TEMPLATES[proxy]) {
    const template = await Deno.readTextFile(new URL(`./${name}.template`, import.meta.url));
    const path = `${out}/${name}`;
    await Deno.writeTextFile(path, fillIn(template, settings), { mode: 0o600 });
    await Deno.chmod(path, 0o600); // also where the file was there already
    paths.push(path);
  }
  return paths;
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  try {
    if (Deno.args.includes("--help")) {
      Deno.stdout.writeSync(encoder.encode(USAGE));
    } else {
      const env = Object.fromEntries(VARIABLES.map((name) => [name, Deno.env.get(name)]));
      for (const path of await render(readOrder(Deno.args, env))) {
        Deno.stdout.writeSync(encoder.encode(`${path}\n`));
      }
    }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(encoder.encode(`${words}\n`));
    Deno.exit(1);
  }
}
