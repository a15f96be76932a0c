/** The certification of TPPs as `deno task certify tpp` runs it. */
import { UsageError } from "../../../command_line/run.ts";
import { readFirstPort } from "../../../../src/sandbox/ecosystem/addresses.ts";
import type { OpenBench, Suite } from "../case.ts";
import { ANSWER_CASES } from "./answer_cases.ts";
import { openTppBench, type Place, type TppBench } from "./bench.ts";
import { commandSubject } from "./command_subject.ts";
import { KEY_CASES } from "./key_cases.ts";
import { REQUEST_CASES } from "./request_cases.ts";
import { RETURN_CASES } from "./return_cases.ts";
import type { Subject } from "./subject.ts";
import { webSubject } from "./web_subject.ts";

const OPTIONS = ["command", "start-url", "redirect-uri", "dir", "port", "org-id", "software-id"] as const;
const DEFAULTS = {
  dir: ".data/certify-tpp",
  port: "8540",
  redirectUri: "http://localhost:9000/callback",
};
/** A shop that the certifier does not start has so long to come up. */
const SHOP_MILLISECONDS = 120_000;

const USAGE = `Certifies a TPP. Give one of these:
  --command TEXT     a program that makes one payment, for the shell. It finds SANDBOX_DIR, TPP_FOLDER and
                     BANK_CODE in its environment, prints the customer's link on a line of its own, waits at its
                     redirect URL, and ends with 0 (paid), 3 (rejected), 4 (unknown) or another status (not paid)
  --start-url URL    the page of a web shop that begins a payment; {bank} stands for the bank's code. Its last page
                     has data-payment-outcome="paid", "pending", "rejected", "failed" or "unknown"
  --start-url shop   the sandbox's own shop

Options:
  --redirect-uri URL the TPP's redirect URL; default ${DEFAULTS.redirectUri}
  --dir DIR          folder of the certifier's ecosystem, which is kept; default ${DEFAULTS.dir}
  --port PORT        first of its six ports; default ${DEFAULTS.port}
  --org-id ID        the TPP in the report; default: as the certifier's directory names it
  --software-id ID   its software in the report; default: as the certifier's directory names it`;

/** The cases of TPPs. */
export const TPP_SUITE: Suite<TppBench> = {
  name: "tpp",
  version: "4",
  usage: USAGE,
  options: OPTIONS,
  cases: [...REQUEST_CASES, ...RETURN_CASES, ...ANSWER_CASES, ...KEY_CASES],
  open,
};

async function open(
  options: Parameters<Suite<TppBench>["open"]>[0],
  print: (line: string) => void,
): Promise<OpenBench<TppBench>> {
  const { command, dir = DEFAULTS.dir, port = DEFAULTS.port } = options;
  const startUrl = options["start-url"];
  if ((command === undefined) === (startUrl === undefined)) {
    throw new UsageError("Give --command or --start-url, one of them; --help describes both.");
  }
  const isOwnShop = startUrl === "shop";
  const redirectUri = isOwnShop ? undefined : options["redirect-uri"] ?? DEFAULTS.redirectUri;
  if (redirectUri !== undefined && !URL.canParse(redirectUri)) {
    throw new UsageError("--redirect-uri must be a URL.");
  }
  const absolute = await Deno.mkdir(dir, { recursive: true, mode: 0o700 }).then(() => Deno.realPath(dir));
  const bench = await openTppBench({
    dir: absolute,
    port: readFirstPort(port),
    redirectUri,
    log: print,
    subject: async (place): Promise<Subject> => {
      if (command !== undefined) return ofCommand(command, place);
      const { auth_url: authUrl, shop_url } = place.endpoints;
      if (isOwnShop) return webSubject({ startUrl: `${shop_url}/`, authUrl });
      await shopIsUp(startUrl ?? "", place, print);
      return webSubject({ startUrl: startUrl ?? "", authUrl });
    },
  });
  const { org_id, software_client_id, client_id } = bench.participant;
  return {
    bench,
    subject: {
      role: "PISP",
      org_id: options["org-id"] ?? org_id,
      software_id: options["software-id"] ?? software_client_id ?? client_id,
      address: startUrl ?? "a program that the certifier starts",
    },
    close: bench.stop,
  };
}

function ofCommand(command: string, { sandboxDir, folder, endpoints }: Place): Subject {
  return commandSubject({ command, sandboxDir, folder, authUrl: endpoints.auth_url });
}

/** @throws {Error} if the shop does not answer in time */
async function shopIsUp(
  startUrl: string,
  { sandboxDir, folder }: Place,
  print: (line: string) => void,
): Promise<void> {
  const address = startUrl.replaceAll("{bank}", "BANKA");
  if (!URL.canParse(address)) throw new UsageError("--start-url must be a URL or the word shop.");
  print(`The TPP's folder is ${folder}, and the addresses are in ${sandboxDir}/endpoints.json.`);
  const { origin } = new URL(address);
  for (const until = performance.now() + SHOP_MILLISECONDS; performance.now() < until;) {
    const answer = await fetch(origin, { redirect: "manual" }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`Nothing answers at ${origin}. Start the shop with these credentials and addresses.`);
}
