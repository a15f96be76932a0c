/** The bench for TPPs: an ecosystem of its own, the misbehaving front before its platform, and the TPP under test. */
import { type Endpoints, startEcosystem } from "../../../../src/sandbox/ecosystem/ecosystem.ts";
import type { MakeKeyPair } from "../../../../src/sandbox/ecosystem/key_files.ts";
import { onboard, participantKeys } from "../../../../src/sandbox/ecosystem/onboarding.ts";
import type { ParticipantPlan } from "../../../../src/sandbox/ecosystem/participants_plan.ts";
import { registerParticipant } from "../../../../src/sandbox/ecosystem/registration.ts";
import { addressesAt } from "../../../../src/sandbox/ecosystem/addresses.ts";
import { sandboxFiles } from "../../../../src/sandbox/ecosystem/sandbox_files.ts";
import { type Description, readDescription } from "../../participant/folder.ts";
import type { Exchange } from "./exchange.ts";
import { type Front, type Misbehaviour, openFront } from "./front.ts";
import type { Impostor } from "./impostor.ts";
import { platformSigningKey, type SigningKey } from "./misbehaviours.ts";
import type { Ended, Errand, Subject } from "./subject.ts";

/** A payment that the TPP made, or did not make. */
export interface Run extends Ended {
  /** All that the TPP sent, in its order. */
  readonly exchanges: readonly Exchange[];
}

/** The equipment of a case. */
export interface TppBench {
  readonly participant: Description;
  /** The TPP's certificate for signatures, PEM. */
  readonly signingCertificate: string;
  readonly endpoints: Endpoints;
  /** The platform's own signing key. */
  readonly platformKey: SigningKey;
  /** How long the platform's next key is published before it signs, seconds. */
  readonly keyLeadSeconds: number;
  /** Lets the TPP make a payment while the front misbehaves. */
  pay(errand: Errand, misbehaviour?: Misbehaviour): Promise<Run>;
  /** A payment at each bank, with a platform that behaves well. Made once for all cases. */
  plain(): Promise<readonly Run[]>;
  /** Lets a bank of the sandbox make this fault with its next order. */
  armBank(bank: string, fault: string): Promise<void>;
  /** Puts a server with a certificate of an unknown authority in the place of the platform's API. */
  impostor(): Promise<Impostor>;
}

/** An open bench; `stop` ends the ecosystem. */
export interface RunningBench extends TppBench {
  /** The same bench with another program of the same participant. */
  with(subject: Subject): TppBench;
  stop(): Promise<void>;
}

/** Where the bench runs and who is tested. */
export interface BenchSettings {
  readonly dir: string;
  /** First of the ecosystem's ports. */
  readonly port: number;
  /** Where the TPP's customers arrive. Absent: the sandbox's own shop is tested. */
  readonly redirectUri?: string | undefined;
  readonly makeKeys?: MakeKeyPair;
  readonly keyLeadSeconds?: number;
  readonly log?: (line: string) => void;
  /** The TPP under test, once its folder is written. */
  readonly subject: (place: Place) => Subject | Promise<Subject>;
}

/** The settings that a TPP needs. */
export interface Place {
  readonly sandboxDir: string;
  readonly folder: string;
  readonly endpoints: Endpoints;
}

/** A TPP reads the key set again for an unknown kid, at most once in 30 seconds (docs/tpp.md). */
const KEY_LEAD_SECONDS = 31;
export const BANKS = ["BANKA", "BANKB"] as const;
const NAME = "tpp";

/** Starts the ecosystem, onboards the TPP, and registers it. */
export async function openTppBench(settings: BenchSettings): Promise<RunningBench> {
  const { dir, port, redirectUri, makeKeys, keyLeadSeconds = KEY_LEAD_SECONDS, log = () => {} } = settings;
  let certificate: string | undefined;
  const front = openFront(() => certificate);
  const ecosystem = await startEcosystem({ dir, port, front, log, ...(makeKeys ? { makeKeys } : {}) });
  try {
    const { endpoints } = ecosystem;
    const name = redirectUri === undefined ? "shop" : NAME;
    const folder = `${dir}/participants/${name}`;
    if (redirectUri !== undefined && await readDescription(folder) === undefined) {
      await admit({ dir, port, redirectUri, makeKeys }, endpoints);
    }
    const participant = await readDescription(folder);
    if (participant === undefined) throw new Error(`${folder} has no participant`);
    if (redirectUri !== undefined && !participant.redirect_uris.includes(redirectUri)) {
      throw new Error(`The TPP in ${folder} has another redirect URL than ${redirectUri}: remove ${dir}.`);
    }
    const read = (file: string): Promise<string> => Deno.readTextFile(`${folder}/${file}`);
    certificate = `:${(await read("transport.cert.pem")).replaceAll(/-----[A-Z ]+-----|\s/g, "")}:`;
    const files = sandboxFiles(dir);
    const facts = {
      participant,
      endpoints,
      keyLeadSeconds,
      signingCertificate: await read("signing.cert.pem"),
      platformKey: await platformSigningKey(await Deno.readTextFile(files.platformKeys)),
    };
    const subject = await settings.subject({ sandboxDir: dir, folder, endpoints });
    const parts = { ...facts, front };
    return {
      ...benchOf({ ...parts, subject }),
      with: (other) => benchOf({ ...parts, subject: other }),
      stop: ecosystem.stop,
    };
  } catch (error) {
    await ecosystem.stop();
    throw error;
  }
}

interface Parts
  extends
    Pick<TppBench, "participant" | "signingCertificate" | "endpoints" | "platformKey" | "keyLeadSeconds"> {
  readonly front: Front;
  readonly subject: Subject;
}

function benchOf({ front, subject, ...facts }: Parts): TppBench {
  let plain: Promise<readonly Run[]> | undefined;
  const pay = async (errand: Errand, misbehaviour?: Misbehaviour): Promise<Run> => {
    using recording = front.record(misbehaviour);
    const ended = await subject.pay(errand);
    return { ...ended, exchanges: recording.exchanges };
  };
  const payAtEach = async (): Promise<readonly Run[]> => {
    const runs: Run[] = [];
    for (const bank of BANKS) runs.push(await pay({ bank }));
    return runs;
  };
  return {
    ...facts,
    pay,
    plain: () => plain ??= payAtEach(),
    armBank: (bank, fault) => armBank(facts.endpoints, bank, fault),
    impostor: front.impostor,
  };
}

/** Onboards the TPP at the directory and registers it at the platform. */
async function admit(
  { dir, port, redirectUri, makeKeys }: {
    readonly dir: string;
    readonly port: number;
    readonly redirectUri: string;
    readonly makeKeys: MakeKeyPair | undefined;
  },
  { directory_url: directoryUrl, directory_admin_token: adminToken }: Endpoints,
): Promise<void> {
  const { origin } = new URL(redirectUri);
  const plan: ParticipantPlan = {
    name: NAME,
    orgName: "TPP under test",
    registrationNumber: "CERTIFY-0001",
    role: "PISP",
    description: "A TPP that is certified",
    homeUrl: origin,
    logoUrl: `${origin}/logo.svg`,
    redirectUris: [redirectUri],
    keys: ["signing", "transport"],
  };
  const files = sandboxFiles(dir);
  const keys = await participantKeys(files, plan, makeKeys);
  await onboard({ directoryUrl, adminToken }, files, plan, keys);
  await registerParticipant(addressesAt(port), files, plan);
}

async function armBank({ banks_url }: Endpoints, bank: string, fault: string): Promise<void> {
  const response = await fetch(`${banks_url}/${bank}/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fault }),
  });
  await response.body?.cancel();
  if (response.status !== 201) throw new Error(`the bank did not take the fault ${fault}`);
}
