/**
 * Lints the OpenAPI documents as they are served: Redocly's recommended rules and Spectral's `spectral:oas`, both without
 * errors and without warnings. The linters come from the npm registry through `npx`, in these versions.
 */
import { openDirectoryEnvironment } from "../../testing/directory_environment.ts";
import { openEnvironment } from "../../testing/environment.ts";

const FOLDER = ".data/openapi";
const CONFIG = "scripts/upkeep/openapi_lint";

/** The served documents, by the name of their file. */
const DOCUMENTS: Readonly<Record<string, () => Promise<string>>> = {
  "platform.json": readPlatformDocument,
  "operations.json": readOperationsDocument,
  "directory_public.json": () => readDirectoryDocument("publicFetch"),
  "directory_administrators.json": () => readDirectoryDocument("adminFetch"),
};

const LINTERS = {
  "redocly lint (recommended, warnings are errors)": [
    ...["@redocly/cli@2.77.0", "lint", "--config", `${CONFIG}/redocly.yaml`],
  ],
  "spectral lint (spectral:oas, warnings are errors)": [
    ...["@stoplight/spectral-cli@6.16.3", "lint", "--ruleset", `${CONFIG}/spectral.yaml`],
    "--fail-severity=warn",
  ],
} as const;

/** No telemetry, and no question whether a newer version exists. */
const ENVIRONMENT = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" };

async function readPlatformDocument(): Promise<string> {
  await using environment = await openEnvironment();
  return await (await environment.browser(new Request(`${environment.config.authUrl}/openapi.json`))).text();
}

async function readOperationsDocument(): Promise<string> {
  await using environment = await openEnvironment();
  return await (await environment.asOperator("/operations/openapi.json")).text();
}

async function readDirectoryDocument(listener: "publicFetch" | "adminFetch"): Promise<string> {
  await using environment = await openDirectoryEnvironment();
  return await (await environment[listener](new Request("https://directory.example/openapi.json"))).text();
}

async function writeDocuments(): Promise<string[]> {
  await Deno.mkdir(FOLDER, { recursive: true });
  return await Promise.all(
    Object.entries(DOCUMENTS).map(async ([name, read]) => {
      const path = `${FOLDER}/${name}`;
      await Deno.writeTextFile(path, JSON.stringify(JSON.parse(await read()), null, 2));
      return path;
    }),
  );
}

async function lint(args: readonly string[], documents: readonly string[]): Promise<boolean> {
  const { success } = await new Deno.Command("npx", {
    args: ["-y", ...args, ...documents],
    env: ENVIRONMENT,
    stdin: "null",
  }).spawn().status;
  return success;
}

if (import.meta.main) {
  const documents = await writeDocuments();
  const failed: string[] = [];
  for (const [name, args] of Object.entries(LINTERS)) if (!await lint(args, documents)) failed.push(name);
  const outcome = failed.length === 0 ? "no error and no warning" : `failed: ${failed.join(", ")}`;
  await Deno.stdout.write(new TextEncoder().encode(`openapi-lint: ${documents.join(", ")}: ${outcome}\n`));
  if (failed.length > 0) Deno.exit(1);
}
