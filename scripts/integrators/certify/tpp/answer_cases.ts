/** Cases about answers of the platform that are altered, lost, late, or ask the TPP to wait. */
import type { Case, Outcome } from "../case.ts";
import { believesNothing, missing, of, paymentsOf, saidNot, settled, verdict } from "./reading.ts";
import type { Run, TppBench } from "./bench.ts";
import { eventsIn, type Exchange, parseAnswer, tokenOf } from "./exchange.ts";
import type { Misbehaviour } from "./front.ts";
import { LOST_CASES } from "./lost_cases.ts";
import {
  type AnswerBody,
  answered,
  changed,
  each,
  signedAnswer,
  signedBy,
  type Target,
  withBody,
  withoutSignature,
} from "./misbehaviours.ts";

type TppCase = Case<TppBench>;

const BANK = "BANKA";
/** So many times the status is still Pending when it is read. */
const LATE_READS = 1;

/** A case in which the TPP must stop before it sends anything to `before`, unless it can do without the answer. */
function stops(
  { id, title, requirement }: Pick<TppCase, "id" | "title" | "requirement">,
  misbehaviour: Misbehaviour,
  before: readonly Exchange["endpoint"][],
  canDoWithout: (run: Run) => boolean = () => false,
): TppCase {
  const run = async (bench: TppBench): Promise<Outcome> => {
    const run = await bench.pay({ bank: BANK }, misbehaviour);
    if (canDoWithout(run)) return verdict([saidNot(run, "paid")], "not asked: it has it from before");
    const sent = run.exchanges.find(({ endpoint }) => before.includes(endpoint));
    return verdict([
      missing(run.exchanges, "request"),
      sent !== undefined && `it went on with ${sent.method} to ${sent.endpoint}`,
      saidNot(run, "failed"),
    ], `it stopped (${run.words})`);
  };
  return { id, title, requirement, run };
}

const POST = "POST";
const payment: Target = { endpoint: "payments", method: POST };
const ofAnother = (body: AnswerBody): unknown => ({
  ...body,
  Data: { ...body.Data, ConsentId: crypto.randomUUID(), DomesticPaymentId: crypto.randomUUID() },
});

const pending = (body: AnswerBody): unknown => ({ ...body, Data: { ...body.Data, Status: "Pending" } });

const ALTERED: readonly TppCase[] = [
  stops(
    {
      id: "TPP-A01",
      title: "An altered answer about the consent is rejected",
      requirement: "contract SG6; OBIE R/W 3.1.11",
    },
    changed(
      { endpoint: "consents", method: POST },
      withBody((body) => ({
        ...body,
        Data: { ...body.Data, CreationDateTime: "2020-01-01T00:00:00+00:00" },
      })),
    ),
    ["par"],
  ),
  believesNothing({
    id: "TPP-A02",
    title: "An altered answer about the payment is rejected",
    requirement: "contract SG6; OBIE R/W 3.1.11",
  }, () => changed({ endpoint: "payments" }, withBody(settled))),
  believesNothing({
    id: "TPP-A03",
    title: "An answer about the payment without a signature is rejected",
    requirement: "contract SG6; OBIE R/W 3.1.11",
  }, () => changed({ endpoint: "payments" }, withoutSignature)),
  believesNothing({
    id: "TPP-A04",
    title: "A signed answer about another payment is rejected",
    requirement: "contract PR2, SG6",
  }, ({ platformKey }) => changed({ endpoint: "payments" }, signedBy(platformKey, ofAnother))),
];

const STATUSES: readonly TppCase[] = [
  {
    id: "TPP-A11",
    title: "A payment that the bank rejects is rejected",
    requirement: "contract PT4",
    async run(bench) {
      await bench.armBank(BANK, "refuse");
      const run = await bench.pay({ bank: BANK });
      return verdict([missing(of(run, "payments"), "payment"), saidNot(run, "rejected")], "it said rejected");
    },
  },
  {
    id: "TPP-A12",
    title: "A payment that is Pending is paid only once the platform says so",
    requirement: "contract PT1, PT3",
    async run(bench) {
      const late = signedBy(bench.platformKey, pending);
      const first = LATE_READS;
      const misbehaviour = each(changed(payment, late), changed({ ...payment, method: "GET", first }, late));
      return judgeLate(await bench.pay({ bank: BANK }, misbehaviour));
    },
  },
  {
    id: "TPP-A13",
    title: "A consent that expired before the payment ends the payment, which is not sent again",
    requirement: "contract CT15, CT16",
    async run(bench) {
      const body = {
        Code: "400 BadRequest",
        Id: crypto.randomUUID(),
        Message: "The request was rejected.",
        Errors: [{
          ErrorCode: "UK.OBIE.Resource.InvalidConsentStatus",
          Message: "The consent's status does not allow this.",
          Path: "Data.ConsentId",
        }],
      };
      const run = await bench.pay(
        { bank: BANK },
        answered(payment, () => signedAnswer(bench.platformKey, 400, body)),
      );
      const posts = of(run, "payments").length;
      return verdict([
        missing(of(run, "payments"), "payment"),
        posts > 1 && `it sent the payment ${posts} times`,
        saidNot(run, "failed", "rejected"),
      ], `it sent the payment once and said ${run.said}`);
    },
  },
];

function judgeLate(run: Run): Outcome {
  const read = of(run, "payments", "GET");
  const isTold = read.length > LATE_READS || isToldByEvent(run);
  return verdict([
    missing(of(run, "payments"), "payment"),
    run.said === "paid" && !isTold && "it said paid while the payment was Pending",
    saidNot(run, "paid"),
  ], `it read the status ${read.length} times and said paid when the platform did`);
}

/** Whether an event that the TPP has polled says that the bank accepted its payment. */
function isToldByEvent(run: Run): boolean {
  const events = of(run, "events").flatMap(eventsIn).map((claims) => JSON.stringify(claims));
  return [...paymentsOf(run)].some((id) =>
    events.some((event) => event.includes(id) && event.includes('"status":"Accepted'))
  );
}

const OAUTH: readonly TppCase[] = [
  {
    id: "TPP-A14",
    title: "A token that is not bound to its key is not used",
    requirement: "contract TC5; FAPI 2.0 §5.3.3.1",
    async run(bench) {
      const run = await bench.pay(
        { bank: BANK },
        changed({ endpoint: "token" }, withBody((body) => ({ ...body, token_type: "Bearer" }))),
      );
      const tokens = of(run, "token").map((exchange) => parseAnswer(exchange).access_token);
      const used = run.exchanges.find((exchange) => tokens.includes(tokenOf(exchange) ?? ""));
      return verdict([
        missing(tokens, "token request"),
        used !== undefined && `it went on with ${used.method} to ${used.endpoint}`,
        saidNot(run, "failed"),
      ], `it stopped (${run.words})`);
    },
  },
  {
    id: "TPP-A15",
    title: "A redirect of the API to another host is not followed",
    requirement: "RFC 9700 §4.12; RFC 9110 §15.4",
    async run(bench) {
      let followed = 0;
      const elsewhere = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
        followed += 1;
        return new Response(null, { status: 404 });
      });
      const location = `http://127.0.0.1:${elsewhere.addr.port}/`;
      const redirect = (): Response => new Response(null, { status: 307, headers: { location } });
      try {
        const misbehaviour = answered({ endpoint: "consents", method: POST }, redirect);
        const run = await bench.pay({ bank: BANK }, misbehaviour);
        return verdict([
          missing(of(run, "consents"), "consent"),
          followed > 0 && "it followed the redirect",
          saidNot(run, "failed"),
        ], "it did not follow the redirect");
      } finally {
        await elsewhere.shutdown();
      }
    },
  },
  stops(
    {
      id: "TPP-A16",
      title: "Metadata of another issuer is not used",
      requirement: "contract MD2; RFC 8414 §3.3",
    },
    changed(
      { endpoint: "metadata" },
      withBody((body) => ({ ...body, issuer: String(body.issuer).replace(/BANKA$/, "BANKB") })),
    ),
    ["token", "par", "consents", "payments"],
    (run) => run.exchanges.length > 0 && of(run, "metadata", "GET").length === 0,
  ),
];

/** Cases TPP-A01 to TPP-A16. */
export const ANSWER_CASES: readonly TppCase[] = [...ALTERED, ...LOST_CASES, ...STATUSES, ...OAUTH];
