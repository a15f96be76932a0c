/** Cases about what a TPP sends to a platform that behaves well: a payment at each of two banks, made once for all. */
import type { Case } from "../case.ts";
import { BANKS, type TppBench } from "./bench.ts";
import { assertionOf, proofOf } from "./exchange.ts";
import { missing, of, paymentsOf, repeated, saidNot, verdict } from "./reading.ts";
import {
  atResources,
  authenticated,
  type Fault,
  first,
  judgeAssertion,
  judgeAth,
  judgeKeys,
  judgeLinks,
  judgePkce,
  judgeProof,
  judgeSignatures,
  judgeState,
  judgeTokens,
  type Seen,
} from "./request_rules.ts";

type TppCase = Case<TppBench>;

/** A case that reads the two good payments. */
function reads(
  id: string,
  title: string,
  requirement: string,
  judge: (seen: Seen) => Promise<readonly Fault[]> | readonly Fault[],
): TppCase {
  return {
    id,
    title,
    requirement,
    seconds: 120, // the first of them makes both payments
    async run(bench) {
      const runs = await bench.plain();
      const exchanges = runs.flatMap((run) => run.exchanges);
      const faults = await judge({ exchanges, runs, bench });
      return verdict(faults, `as required in all of ${exchanges.length} requests`);
    },
  };
}

const SECRETS = /[?&](access_token|code|client_assertion|code_verifier|token)=/;

/** Cases TPP-R01 to TPP-R13. */
export const REQUEST_CASES: readonly TppCase[] = [
  reads(
    "TPP-R01",
    "It makes a payment at each of two banks",
    "contract EP1 to EP10",
    ({ runs }) =>
      runs.flatMap((run, at) => [
        saidNot(run, "paid"),
        of(run, "payments").some(({ bank }) => bank !== BANKS[at]) && `it did not pay from ${BANKS[at]}`,
        paymentsOf(run).size !== 1 && `the platform has ${paymentsOf(run).size} payments of it`,
      ]),
  ),
  reads(
    "TPP-R02",
    "Each client assertion is used once",
    "contract CA12; RFC 7523 §3 item 7",
    (seen) => [
      missing(authenticated(seen), "client assertion"),
      repeated(
        authenticated(seen).map((exchange) => assertionOf(exchange)?.claims.jti ?? ""),
        "the jti of a client assertion",
      ),
    ],
  ),
  reads(
    "TPP-R03",
    "A client assertion is for the bank's issuer alone and valid for at most 5 minutes",
    "contract CA8 to CA10",
    (seen) => [
      missing(authenticated(seen), "client assertion"),
      first(authenticated(seen), (exchange) => judgeAssertion(exchange, seen)),
    ],
  ),
  reads("TPP-R04", "Each DPoP proof is used once", "contract DP11; RFC 9449 §4.2", ({ exchanges }) => {
    const proofs = exchanges.flatMap((exchange) => proofOf(exchange) ?? []);
    return [
      missing(proofs, "DPoP proof"),
      repeated(proofs.map(({ claims }) => claims.jti ?? ""), "a proof's jti"),
    ];
  }),
  reads(
    "TPP-R05",
    "A DPoP proof names method, address and time of its request, and has a public key",
    "contract DP3 to DP10; RFC 9449 §4.2",
    (seen) => [first([...authenticated(seen), ...atResources(seen)], judgeProof)],
  ),
  reads(
    "TPP-R06",
    "At a resource the DPoP proof has the hash of the access token",
    "contract DP12; RFC 9449 §4.3",
    async (seen) => [
      missing(atResources(seen), "request to a resource"),
      ...await Promise.all(atResources(seen).map(judgeAth)),
    ],
  ),
  reads(
    "TPP-R07",
    "A token is sent only to the bank that issued it",
    "contract TC6; RFC 9700 §4.9.1",
    judgeTokens,
  ),
  reads("TPP-R08", "Each authorization has PKCE of its own", "contract TA5; FAPI 2.0 §5.3.3.2", judgePkce),
  reads("TPP-R09", "Each authorization has an unpredictable state of its own", "RFC 6749 §10.12", judgeState),
  reads(
    "TPP-R10",
    "The customer's link has client_id and request_uri alone",
    "contract AZ1; RFC 9126 §4",
    judgeLinks,
  ),
  reads(
    "TPP-R11",
    "Each request has an idempotency key of its own",
    "contract IK1, IK8; Decision C4",
    judgeKeys,
  ),
  reads(
    "TPP-R12",
    "Each body has a signature of its own over the bytes that are sent",
    "contract SG1 to SG4; Decision C5",
    judgeSignatures,
  ),
  reads(
    "TPP-R13",
    "Tokens, codes and assertions stay out of addresses",
    "FAPI 2.0 §5.3.2.1; RFC 9700 §4.3.2",
    ({ exchanges }) => [
      missing(exchanges, "request"),
      first(exchanges, ({ url }) => SECRETS.test(url.search) && "a secret in the query"),
    ],
  ),
  {
    id: "TPP-R14",
    title: "It does not talk to a platform whose certificate no trusted authority has issued",
    requirement: "FAPI 2.0 §5.2.1; RFC 9325 §6.1",
    async run(bench) {
      await using impostor = await bench.impostor();
      const run = await bench.pay({ bank: "BANKA" });
      const { handshakes, requests } = impostor;
      return verdict([
        handshakes === 0 && "it did not call the platform's API",
        requests > 0 && `it sent ${requests} requests`,
        saidNot(run, "failed"),
      ], `it ended ${handshakes} handshakes and sent no request`);
    },
  },
];
