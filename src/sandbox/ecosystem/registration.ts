/** Registers the sandbox's participants at the platform, each over mTLS with its own certificate (contract EP13). */
import type { Addresses } from "./addresses.ts";
import type { ParticipantPlan } from "./participants_plan.ts";
import { participantFiles, type SandboxFiles } from "./sandbox_files.ts";
import { openMutualTls } from "../../client/party/mutual_tls.ts";
import { loadParticipant } from "../../client/party/participant.ts";
import { register } from "../../client/party/register_client.ts";

/**
 * Registers one participant with its software statement.
 * @throws {Error} if the platform rejects it or assigns another id than the directory
 */
export async function registerParticipant(
  addresses: Addresses,
  files: SandboxFiles,
  plan: ParticipantPlan,
): Promise<void> {
  const participant = await loadParticipant(participantFiles(files, plan.name).folder);
  const connection = openMutualTls(participant.transport, await Deno.readTextFile(files.caCertificate));
  try {
    const server = {
      fetch: connection.fetch,
      baseUrl: addresses.baseUrl,
      audience: addresses.registrationAudience,
    };
    const { clientId } = await register(server, participant, plan.role);
    // Decision B6: participant.json already contains this id.
    if (clientId !== participant.clientId) throw new Error(`${plan.name} was registered as ${clientId}`);
  } finally {
    connection.close();
  }
}
