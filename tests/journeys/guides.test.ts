/**
 * The guides of the documentation, followed to the letter by external parties with a shell: every block of theirs is taken from
 * the Markdown that the running sandbox serves, its placeholders are filled, and it runs as it stands.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import * as jose from "jose";
import { decodeStatement } from "../../src/platform/operations/recovery/order_statement_schema.ts";
import { attendCustomer, pullAndReport, takesOrders } from "support/guide_bank.ts";
import { type Guides, onboard, openGuides, ownToken, registers } from "support/guide_environment.ts";
import { armForOAuth, armWithProof, armWithSignature, type Party } from "support/guide_party.ts";
import { readApiReference } from "../../src/portal/api_reference.ts";
import { samplesOf } from "../../src/portal/request_samples.ts";
import { areToolsThere, filled, request, run, saySkipped } from "support/guide_snippets.ts";
import { startProcess } from "support/own_bank.ts";
import {
  type ArmedFaults,
  bodyOf,
  type CreatedConsent,
  type EventPage,
  type Payment,
  type PushedRequest,
  type SandboxTime,
  type ServerMetadata,
  type TokenAnswer,
} from "testing/answers.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { bankCertification } from "support/guide_certification.ts";
import { customerLeaves, type Departure } from "support/guide_customer.ts";

const NAME = "every block of the guides works as it is shown [F1] [F4] [E1]";
Deno.test({ name: NAME, ignore: !areToolsThere() }, async (t) => {
  await using guides = await openGuides();
  await t.step("sandbox guide: a payment, faults, a TPP of one's own", () => sandboxPage(guides));
  const tpp = await stepValue(t, "TPP guide: onboarding", () => onboardTpp(guides));
  const bank = await stepValue(t, "bank guide: onboarding", () => onboardBank(guides));
  await t.step("TPP guide: registration, and a bank registers alike", async () => {
    await registers(guides, tpp);
    await registers(guides, bank);
  });
  await t.step("TPP guide: what a TPP signs is printed", async () => {
    await run(
      guides.shell,
      guides.pages.tpp.take("find-what-is-wrong", "What you sign"),
    );
  });
  await t.step("TPP guide: token and consent", () => createConsent(guides, tpp));
  const departure = await stepValue(t, "TPP guide: the customer leaves", () => sendCustomer(guides, tpp));
  await t.step("bank guide: the customer's visit", () => attendCustomer(guides, { bank, tpp, departure }));
  await using orders = takesOrders(guides, bank);
  await t.step("TPP guide: the payment", () => pay(guides, tpp));
  await t.step(
    "API reference: the payment is read by the request in each language",
    () => readBySamples(guides, tpp),
  );
  await t.step("bank guide: orders and reports", async () => {
    assertEquals(orders.taken, [tpp.shell.env["PAYMENT_ID"]]);
    await pullAndReport(guides, bank, tpp.shell.env["PAYMENT_ID"] ?? "");
    assertEquals(await readStatus(guides, tpp), "AcceptedSettlementCompleted");
  });
  await t.step("both guides: the evidence of the payment, and a dispute about it", async () => {
    await disputes(guides, tpp, { scope: "payments", action: '"Open"' });
    bank.shell.env["PAYMENT_ID"] = tpp.shell.env["PAYMENT_ID"] ?? "";
    await disputes(guides, bank, { scope: "bank", action: '"Answer","IsAgreed":false' });
    const [amount] = JSON.parse(guides.pages.bank.take("prove-dynamic-linking", "Digest of")) as string[];
    assertEquals(amount, "19.90"); // its digest: transaction_digest.test.ts
  });
  await t.step("bank guide: the statement after a restore", () => {
    const claims = JSON.parse(
      guides.pages.bank.take("after-a-restore-of-the-platform", "Claims of a statement"),
    ) as jose.JWTPayload;
    const decoded = decodeStatement(claims);
    assertEquals([claims.aud, decoded.ok && decoded.value.orders.length], [guides.endpoints.auth_url, 1]);
  });
  await t.step("bank guide: the certification's command and hook", () => bankCertification(guides));
  await t.step("signatures guide: every example proves itself", () => examples(guides));
  await t.step("no block was left out", () => {
    const pages = Object.entries(guides.pages);
    assertEquals(pages.flatMap(([page, { untried }]) => untried().map((name) => `${page} ${name}`)), []);
  });
});

async function sandboxPage({ pages: { sandbox }, shell, startedWith }: Guides): Promise<void> {
  assertEquals(sandbox.take("start-it", "Start"), startedWith);
  const demo = await run(
    shell,
    sandbox.take("one-payment-from-the-command-line", "One payment, step by step, in another terminal"),
  );
  assertMatch(demo.text, /AcceptedSettlement/);
  const { by_amount } = await request<ArmedFaults>(
    shell,
    sandbox.take("make-it-go-wrong", "What there is"),
    200,
  );
  assertEquals(by_amount.length > 5, true);
  const { armed } = await request<ArmedFaults>(shell, sandbox.take("make-it-go-wrong", "Arm one"), 201);
  assertEquals(armed, [{ fault: "lose_answer", times: 2 }]);
  assertEquals(
    (await request<ArmedFaults>(shell, sandbox.take("make-it-go-wrong", "Disarm all"), 200)).armed,
    [],
  );
  const { now } = await request<SandboxTime>(
    shell,
    sandbox.take("advance-the-clock", "Move it ahead by an hour"),
    200,
  );
  assertEquals(Math.round((Date.parse(now) - Date.now()) / 60_000), 60);
  assertEquals(
    (await request<SandboxTime>(shell, sandbox.take("advance-the-clock", "What time it is"), 200))
      .ahead_seconds,
    3600,
  );
  const back = await request<SandboxTime>(
    shell,
    sandbox.take("advance-the-clock", "Set it back to this computer's time"),
    200,
  );
  assertEquals(back.ahead_seconds, 0);
  const block = sandbox.take("bring-your-own", "A TPP of your own, paying").replaceAll("mine", "other");
  const [example = "", onboarding = "", payment = ""] = block.split("\n");
  await run(shell, example);
  const redirectUri = await onFreePort(`${shell.cwd}/.data/details.json`);
  await run(shell, onboarding);
  const args = ["-c", `exec ${payment}`];
  const command = { args, cwd: shell.cwd, env: shell.env, stdout: "piped", stderr: "piped" } as const;
  const script = startProcess("first_payment", new Deno.Command("bash", command));
  try {
    const link = /^http\S+authorization\.oauth2\S+$/m;
    const startUrl = link.exec(await script.said(/^http\S+authorization\.oauth2\S+\n/m))?.[0] ?? "";
    const sent = new URL(startUrl).searchParams;
    const approval = sandbox.take("authorize-without-a-browser", "After your pushed authorization request")
      .replace("SC-…", sent.get("client_id") ?? "")
      .replace("urn:ietf:params:oauth:request_uri:…", sent.get("request_uri") ?? "");
    const { redirect_url } = await request<{ redirect_url: string }>(shell, approval, 200);
    assert(redirect_url.startsWith(redirectUri), redirect_url);
    await (await fetch(redirect_url)).body?.cancel();
    assertMatch(await script.said(/^payment .*\n/m), /AcceptedSettlementInProcess/);
  } finally {
    await script.stop();
  }
}

/** The example's port may be taken on this computer: "edit it if you like". Gives the TPP's redirect URL. */
async function onFreePort(file: string): Promise<string> {
  const home = `http://localhost:${freePort()}`;
  const details = await Deno.readTextFile(file);
  await Deno.writeTextFile(file, details.replaceAll(/http:\/\/localhost:900\d/g, home));
  return `${home}/callback`;
}

async function onboardTpp(guides: Guides): Promise<Party> {
  const { shell, pages } = guides;
  const [example = "", onboarding = ""] = pages.tpp.take("become-a-participant", "Onboard at a directory")
    .split("\n");
  await run(shell, example);
  const redirectUri = await onFreePort(`${shell.cwd}/.data/details.json`);
  await run(shell, onboarding);
  guides.fills.push([/https:\/\/tpp\.example\.com\/callback/g, redirectUri]);
  return await onboard(guides, "mine");
}

async function onboardBank(guides: Guides): Promise<Party> {
  const { shell, pages } = guides;
  const block = pages.tpp.take("become-a-participant", "Onboard at a directory").replaceAll("mine", "my-bank")
    .replace("PISP", "ASPSP").concat(" --encryption");
  const [example = "", onboarding = ""] = block.split("\n");
  await run(shell, example);
  await onFreePort(`${shell.cwd}/.data/details.json`);
  const details = JSON.parse(await Deno.readTextFile(`${shell.cwd}/.data/details.json`)) as object;
  const onPlatformsScreen = { ...details, consent_managedby_bank: false, results_on_back_channel: true };
  await Deno.writeTextFile(`${shell.cwd}/.data/details.json`, JSON.stringify(onPlatformsScreen));
  await run(shell, onboarding);
  return await onboard(guides, "my-bank");
}

/** Gets the bundle, and opens a dispute or answers the other party's. */
async function disputes(
  guides: Guides,
  party: Party,
  { scope, action }: { readonly scope: "payments" | "bank"; readonly action: string },
): Promise<void> {
  const { shell } = party;
  const page = guides.pages.tpp;
  const token = await ownToken(guides, party, scope);
  const { CONSENT_ID: consentId } = shell.env;
  Object.assign(shell.env, { TOKEN: token, INTERACTION_ID: crypto.randomUUID() });
  const take = async (): Promise<number | undefined> => {
    await armWithProof(party, "GET", `/BANKC/cases/v1/${consentId}`, token);
    return (await run(shell, page.take("the-evidence-of-a-payment", "Get the bundle"))).status;
  };
  let status = await take();
  while (status === 503) { // its newest entry has no place in the log yet
    await new Promise((resolve) => setTimeout(resolve, 200));
    status = await take();
  }
  assertEquals(status, 200);
  const bundle = JSON.parse(await Deno.readTextFile(`${shell.cwd}/case.json`)) as object;
  assertEquals(JSON.stringify(bundle).includes(`"${consentId}"`), true);
  const block = page.take("dispute-a-payment", "Open a dispute").replace('"Open"', action);
  await run(shell, block.split("\n")[0] ?? "");
  await armWithSignature(party, "dispute.json", "a");
  await armWithProof(party, "POST", "/BANKC/disputes/v1", token);
  shell.env["KEY"] = crypto.randomUUID();
  await request(shell, block, 201);
}

async function createConsent(guides: Guides, tpp: Party): Promise<void> {
  const { shell, at } = tpp;
  const page = guides.pages.tpp;
  const metadata = await request<ServerMetadata>(
    shell,
    page.take("get-a-token-of-your-own", "Discover"),
    200,
  );
  assertEquals(metadata.issuer, at.issuer);
  shell.env["TOKEN"] = await ownToken(guides, tpp, "payments");
  const block = page.take("create-a-consent", "Create a consent");
  await run(shell, block.split("\n")[0] ?? "");
  await armWithSignature(tpp, "consent.json", "a");
  await armWithProof(tpp, "POST", "/BANKC/domestic-payment-consents/v1", shell.env["TOKEN"]);
  shell.env["KEY"] = crypto.randomUUID();
  const { Data } = await request<CreatedConsent>(shell, block, 201);
  assertEquals(Data.Status, "AwaitingAuthorisation");
  shell.env["CONSENT_ID"] = Data.ConsentId;
}

async function sendCustomer(guides: Guides, tpp: Party): Promise<Departure> {
  const { shell } = tpp;
  const page = guides.pages.tpp;
  await armForOAuth(tpp, "/BANKC/par.oauth2/v1");
  const { JKT, CHALLENGE, VERIFIER, ...state } = await customerLeaves.secrets(tpp);
  Object.assign(shell.env, { JKT, CHALLENGE, VERIFIER, ...state });
  const pushed = await request<PushedRequest>(
    shell,
    page.take("push-the-authorization-request", "Pushed authorization request"),
    201,
  );
  shell.env["REQUEST_URI"] = pushed.request_uri;
  const address = page.take("send-the-customer", "Authorization address");
  return await customerLeaves.by((await run(shell, `printf %s "${address}"`)).text);
}

async function pay(guides: Guides, tpp: Party): Promise<void> {
  const { shell } = tpp;
  const page = guides.pages.tpp;
  await armForOAuth(tpp, "/BANKC/token.oauth2/v1");
  const token = await request<TokenAnswer>(shell, page.take("exchange-the-code", "Authorization code"), 200);
  shell.env["PAYMENT_TOKEN"] = token.access_token;
  const block = page.take("pay-and-read-the-status", "Create the payment");
  await run(shell, block.split("\n")[0] ?? "");
  await armWithSignature(tpp, "payment.json", "b");
  await armWithProof(tpp, "POST", "/BANKC/domestic-payments/v1", token.access_token);
  shell.env["KEY"] = crypto.randomUUID();
  const { Data } = await request<Payment>(shell, block, 201);
  assertEquals(Data.Status, "AcceptedSettlementInProcess");
  shell.env["PAYMENT_ID"] = Data.DomesticPaymentId;
  assertEquals(await readStatus(guides, tpp), "AcceptedSettlementInProcess");
  await readEvents(guides, tpp);
}

async function readEvents({ pages }: Guides, tpp: Party): Promise<void> {
  await armWithProof(tpp, "POST", "/BANKC/events/v1", tpp.shell.env["TOKEN"] ?? "");
  const { sets } = await request<EventPage>(tpp.shell, pages.tpp.take("events", "Poll for events"), 200);
  const types = Object.values<string>(sets).flatMap((set) =>
    Object.keys(jose.decodeJwt<{ events: object }>(set)["events"])
  );
  for (const type of ["consent-authorised", "consent-consumed", "payment-status-changed"]) {
    assert(types.some((id) => id.endsWith(`/events/${type}`)), type);
  }
}

async function readStatus({ pages }: Guides, tpp: Party): Promise<string> {
  const { env } = tpp.shell;
  await armWithProof(tpp, "GET", `/BANKC/domestic-payments/v1/${env["PAYMENT_ID"]}`, env["TOKEN"] ?? "");
  const { Data } = await request<Payment>(
    tpp.shell,
    pages.tpp.take("pay-and-read-the-status", "Read its status, with either token"),
    200,
  );
  return Data.Status;
}

/** The page shows what {@link samplesOf} makes of the served document. */
async function readBySamples({ endpoints, fills }: Guides, tpp: Party): Promise<void> {
  const document: unknown = await bodyOf(fetch(`${endpoints.auth_url}/openapi.json`));
  const path = "/{bank}/domestic-payments/v1/{paymentId}";
  const endpoint = readApiReference(document).groups.flatMap((group) => group.endpoints)
    .find((one) => one.method === "GET" && one.path === path);
  const samples = endpoint === undefined ? [] : samplesOf(endpoint);
  assertEquals(samples.map(({ title }) => title), ["curl", "TypeScript", "Python", "Java", "Go", "C#"]);
  const file = (language: string): string => `sample.${language}`;
  const programs: Readonly<Record<string, string>> = {
    bash: `bash ${file("bash")}`,
    typescript: `'${Deno.execPath()}' run -A --no-config ${file("typescript")}`,
    python: `python3 ${file("python")}`,
    java: `sed -n 's|^// ||p' ${file("java")} | bash >/dev/null 2>&1; java ${file("java")}`,
    go: `go run ${file("go")}`,
  };
  const paymentId = tpp.shell.env["PAYMENT_ID"] ?? "";
  for (const { language, code } of samples) {
    if (language === "csharp" || !canRun(language)) continue;
    await Deno.writeTextFile(`${tpp.shell.cwd}/${file(language)}`, filled(code, fills));
    await armWithProof(tpp, "GET", `/BANKC/domestic-payments/v1/${paymentId}`, tpp.shell.env["TOKEN"] ?? "");
    const { text } = await run(tpp.shell, programs[language] ?? "");
    assert(text.includes(`"DomesticPaymentId":"${paymentId}"`), `${language}: ${text}`);
  }
}

/** What a language needs to run a sample, as a shell asks for it. */
const NEEDS: Readonly<Record<string, string>> = {
  python: 'python3 -c "import requests"',
  java: "command -v java keytool openssl",
  go: "command -v go",
};

function canRun(language: string): boolean {
  const args = ["-c", NEEDS[language] ?? "true"];
  const { success } = new Deno.Command("bash", { args, stdout: "null", stderr: "null" }).outputSync();
  if (!success) saySkipped(`the sample in ${language} was not run, this failed: ${NEEDS[language]}`);
  return success;
}

async function examples({ pages: { signatures }, shell }: Guides): Promise<void> {
  const jwk = JSON.parse(
    signatures.take("how-to-check-yourself", "Public key of the examples"),
  ) as JsonWebKey;
  const algorithm = { name: "RSA-PSS", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
  for (
    const section of [
      "client-assertion",
      "dpop-proof",
      "x-jws-signature-profile-a",
      "x-jws-signature-profile-b",
      "handover-jwt",
    ]
  ) {
    const take = (what: string): string => signatures.take(section, `Example: ${what}`);
    const payload = section === "x-jws-signature-profile-a"
      ? take("body, in the signing input as it is")
      : base64url(take("payload"));
    const input = take("signing input");
    assertEquals(input, `${base64url(take("header"))}.${payload}`, section);
    const env = { ...shell.env, SIGNING_INPUT: input };
    const hash = await run(
      { ...shell, env },
      signatures.take("how-to-check-yourself", "Hash a signing input"),
    );
    assertEquals(hash.text.split(" ")[0], take("SHA-256 of the signing input"), section);
    const signature = Uint8Array.fromBase64(take("a signature"), { alphabet: "base64url" });
    const bytes = new TextEncoder().encode(input);
    assertEquals(
      await crypto.subtle.verify({ name: "RSA-PSS", saltLength: 32 }, key, signature, bytes),
      true,
    );
  }
}

function base64url(text: string): string {
  return new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** A step whose value the next ones need. */
async function stepValue<T>(t: Deno.TestContext, name: string, act: () => Promise<T>): Promise<T> {
  const values: T[] = [];
  await t.step(name, async () => void values.push(await act()));
  const [value] = values;
  if (value === undefined) throw new Error(`${name}: failed, so the rest cannot go on`);
  return value;
}
