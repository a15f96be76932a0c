/**
 * `deno task proxy-config`: fills in the reference configurations of nginx and HAProxy. The files contain the proxy's
 * secret, so only their owner may read them. Starts and reloads no proxy.
 */
import { secretEnvironment } from "../../command_line/secret_environment.ts";
import { writeSecretFile } from "../../command_line/secret_file.ts";
import { runProgram } from "../../command_line/run.ts";
import {
  type Backends,
  type CellSettings,
  type ProxyName,
  type ProxyOrder,
  readOrder,
  type Settings,
  SettingsError,
  USAGE,
} from "./settings.ts";
import { FIRST_SEGMENTS, type Zone } from "../../../src/base/kernel/identifiers.ts";

/** Shown to customers while the platform is away. It holds no secret, and nginx reads it without root's rights. */
const PAGE = "unavailable.html";

/** The templates of each proxy; a file is named like its template. */
const TEMPLATES: Readonly<Record<ProxyName, readonly string[]>> = {
  nginx: ["nginx.conf", PAGE],
  haproxy: ["haproxy.cfg", "haproxy.crt_list", PAGE],
};

/** Variables of the platform's environment that the templates use. */
const VARIABLES = [
  "PLATFORM_BASE_URL",
  "PLATFORM_AUTH_URL",
  "HOST",
  "PORT",
  "PLATFORM_BACKENDS",
  "PLATFORM_CELLS",
];

/**
 * A template with its placeholders filled in. A line with `{{API_BACKEND}}` or `{{BROWSER_BACKEND}}` is written once for
 * each backend of that host, with its address and, in place of `{{NUMBER}}`, its number from 1 on. `track …/{{SAME}}`
 * follows the check of a process that serves both hosts; one that serves the browser host alone has its own. The lines between `{{CELLS}}` and `{{END}}` are written
 * once for each further cell, with its name, its banks as an alternative of a regular expression, and its backends.
 *
 * @throws {Error} where a placeholder has no value
 */
export function fillIn(
  template: string,
  settings: Settings,
  backends: Backends,
  cells: readonly CellSettings[] = [],
): string {
  const ofCells = template.replaceAll(
    /^.*\{\{CELLS\}\}.*\n([^]*?)^.*\{\{END\}\}.*\n/gm,
    (_, lines: string) =>
      cells.map(({ name, banks, backends: own }) =>
        withBackends(lines, own).replaceAll("{{CELL}}", name)
          .replaceAll("{{CELL_BANKS}}", banks.map((code) => code.replaceAll(".", "[.]")).join("|"))
      ).join(""),
  );
  return withBackends(ofCells, backends).replaceAll(/\{\{([A-Z_]+)\}\}/g, (_, name: string) => {
    const value = settings[name];
    if (value === undefined) throw new Error(`the template asks for ${name}, which nothing gives`);
    return value;
  });
}

const OWN_CHECK = "check inter 1s fall 1 rise 1";

function withBackends(lines: string, { api, browser }: Backends): string {
  return lines.replaceAll(
    /^.*\{\{(API|BROWSER)_BACKEND\}\}.*\n/gm,
    (line, host: string) =>
      (host === "API" ? api : browser).map((address, index) =>
        line.replaceAll(`{{${host}_BACKEND}}`, address).replaceAll("{{NUMBER}}", String(index + 1))
          .replace(/track \S+\/\{\{SAME\}\}/, (track) => {
            const same = api.indexOf(address) + 1;
            return same === 0 ? OWN_CHECK : track.replace("{{SAME}}", `platform${same}`);
          })
      ).join(""),
  );
}

/**
 * Writes the files of an order.
 *
 * @returns their paths
 * @throws {SettingsError} if one of them exists and the order does not say that it may be replaced; then none is written
 */
export async function render(
  { proxy, out, overwrite, settings, backends, cells }: ProxyOrder,
): Promise<string[]> {
  const files = TEMPLATES[proxy].map((name) => ({ name, path: `${out}/${name}` }));
  if (!overwrite) await rejectExisting(files.map(({ path }) => path));
  for (const { name, path } of files) {
    const template = await Deno.readTextFile(new URL(`./${name}.template`, import.meta.url));
    const text = fillIn(template, { ...ZONES, ...settings }, backends, cells);
    await writeSecretFile(path, text, { replace: overwrite });
    if (name === PAGE) await Deno.chmod(path, 0o644); // nginx reads it as another user
  }
  return files.map(({ path }) => path);
}

async function rejectExisting(paths: readonly string[]): Promise<void> {
  const faults: string[] = [];
  for (const path of paths) {
    const exists = await Deno.lstat(path).then(
      () => true,
      (error) => !(error instanceof Deno.errors.NotFound),
    );
    if (exists) faults.push(`${path} exists; add --overwrite to replace it`);
  }
  if (faults.length > 0) throw new SettingsError(faults);
}

/** Returns the expression of the zone's paths. nginx and HAProxy read it in the same way. */
function pathsOf(zone: Zone): string {
  const names = [...FIRST_SEGMENTS].filter(([, segment]) => segment.zone === zone).map(([name]) => name);
  const below = names.filter((name) => name !== "").map((name) => name.replaceAll(".", "\\.")).join("|");
  return names.includes("") ? `^/($|(${below})(/|$))` : `^/(${below})(/|$)`;
}

/** By placeholder. */
export const ZONES: Readonly<Record<string, string>> = {
  OPERATOR_PATHS: pathsOf("operator"),
  DOCUMENTATION_PATHS: pathsOf("documentation"),
  DISCOVERY_PATHS: pathsOf("discovery"),
};

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) => {
    const env = await secretEnvironment(["PLATFORM_PROXY_SECRET"], VARIABLES);
    for (const path of await render(readOrder(args, env))) print(path);
  });
}
