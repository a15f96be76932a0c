/** The participant command in a folder of its own, with a directory to talk to. */
import "reflect-metadata";
import { assert, assertRejects, assertStringIncludes } from "@std/assert";
import type { DirectoryParts } from "../../../src/directory/process/compose_directory.ts";
import { participant } from "../../../scripts/integrators/participant/main.ts";
import { UsageError } from "../../../scripts/command_line/run.ts";
import { ParticipantFailure } from "../../../scripts/integrators/participant/folder.ts";
import {
  ADMIN_TOKEN,
  type DirectoryEnvironment,
  openDirectoryEnvironment,
} from "testing/directory_environment.ts";

/** A directory on a port, a sandbox folder that names it, and the command line in it. */
export interface Desk extends AsyncDisposable {
  readonly environment: DirectoryEnvironment;
  readonly folder: string;
  readonly url: string;
  /** Runs a command line, gives what it printed. */
  run(
    line: string,
    more?: { readonly env?: Record<string, string>; readonly input?: unknown },
  ): Promise<string>;
}

export async function onboardShop(desk: Desk, flags = ""): Promise<string> {
  const details = JSON.parse(await desk.run("onboard --example PISP"));
  return await desk.run(`onboard --name my-shop --details - ${flags}`, { input: details });
}

export async function openDesk(changes: Partial<DirectoryParts> = {}): Promise<Desk> {
  const environment = await openDirectoryEnvironment(changes);
  const folder = await Deno.makeTempDir();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => environment.fetch(request),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const endpoints = { directory_url: url, directory_admin_token: ADMIN_TOKEN };
  await Deno.writeTextFile(`${folder}/endpoints.json`, JSON.stringify(endpoints));
  return {
    environment,
    folder,
    url,
    async run(line, { env = {}, input = "" } = {}): Promise<string> {
      const printed: string[] = [];
      await participant(line.split(" ").filter((word) => word !== ""), {
        env: { SANDBOX_DIR: folder, ...env },
        print: (text) => void printed.push(text),
        readInput: () => Promise.resolve(typeof input === "string" ? input : JSON.stringify(input)),
      });
      return printed.join("\n");
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await server.shutdown();
      await environment[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

export async function failure(running: Promise<unknown>, words: string): Promise<void> {
  const error = await assertRejects(() => running, Error);
  assert(error instanceof ParticipantFailure || error instanceof UsageError, error.stack);
  assertStringIncludes(error.message, words);
  assert(!error.message.includes("\n") && !error.message.includes(ADMIN_TOKEN));
}

/** `participant.json` of an onboarded participant. */
export interface ParticipantFile {
  readonly org_id: string;
  readonly client_id: string;
  readonly software_client_id: string;
  readonly redirect_uris: readonly string[];
  readonly signing_kid: string;
  readonly transport_kid: string;
  readonly encryption_kid?: string;
}

export async function json<T = ParticipantFile>(file: string): Promise<T> {
  return JSON.parse(await Deno.readTextFile(file)) as T;
}
