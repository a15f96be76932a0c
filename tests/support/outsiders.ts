/** A running sandbox with participants that are onboarded by the command line, as an integrator has it. */
import { openMutualTls } from "../../src/client/party/mutual_tls.ts";
import { loadParticipant } from "../../src/client/party/participant.ts";
import { register, type RegistrationRole } from "../../src/client/party/register_client.ts";
import type { Endpoints } from "../../src/sandbox/ecosystem/ecosystem.ts";
import { exampleDetails, participant } from "../../scripts/integrators/participant/main.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import { startPooledEcosystem } from "./pooled_ecosystem.ts";

export interface IntegratorsSandbox extends AsyncDisposable {
  readonly dir: string;
  readonly endpoints: Endpoints;
  /** Runs `deno task participant` and returns what it prints. */
  readonly participant: (...args: string[]) => Promise<string>;
  /** Onboards a participant with changed details. */
  readonly onboard: (
    name: string,
    role: RegistrationRole,
    software?: Readonly<Record<string, unknown>>,
    details?: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
  readonly register: (name: string, role: RegistrationRole) => Promise<void>;
}

export async function openIntegratorsSandbox(): Promise<IntegratorsSandbox> {
  const dir = await Deno.makeTempDir({ prefix: "integrators-" });
  const { endpoints, stop } = await startPooledEcosystem({ port: freeSandboxPorts(), dir });
  const run = async (...args: string[]): Promise<string> => {
    const lines: string[] = [];
    const readInput = (): Promise<string> => Promise.resolve("");
    await participant(args, { env: { SANDBOX_DIR: dir }, print: (line) => lines.push(line), readInput });
    return lines.join("\n");
  };
  return {
    dir,
    endpoints,
    participant: run,
    async onboard(name, role, software = {}, details = {}) {
      const example = exampleDetails(role);
      const file = `${dir}/${name}.details.json`;
      const changed = { ...example, ...details, software: { ...Object(example["software"]), ...software } };
      await Deno.writeTextFile(file, JSON.stringify(changed));
      await run("onboard", "--name", name, "--details", file);
    },
    async register(name, role) {
      const mine = await loadParticipant(`${dir}/participants/${name}`);
      const connection = openMutualTls(mine.transport, await Deno.readTextFile(`${dir}/ca.pem`));
      const { base_url: baseUrl, registration_audience: audience } = endpoints;
      await register({ fetch: connection.fetch, baseUrl, audience }, mine, role).finally(connection.close);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await Deno.remove(dir, { recursive: true });
    },
  };
}
