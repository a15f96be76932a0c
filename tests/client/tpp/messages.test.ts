/** The messages of a payment on the shop's developer page and in its JSON, and the values that both must hide. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Payment, present } from "testing/answers.ts";
import { emptyMessageLog, recordingFetch } from "../../../src/client/tpp/message_log.ts";
import { showMessage } from "../../../src/client/tpp/message_mask.ts";
import { accessToken, consentId, json, paymentAnswer, requestUri } from "support/sandbox_tpp_platform.ts";
import {
  callback,
  get,
  goToBank,
  issuer,
  openShop,
  paymentsPath,
  type ShopEnvironment,
} from "support/shop_environment.ts";

const code = "secret-code-secret-code-secret";
const readPath = `${paymentsPath}/5d2c5b1e-31a5-4b52-9d6e-2b8e5b0b7a11`;

interface Paid {
  readonly env: ShopEnvironment;
  /** The text below the order's address. */
  readonly read: (below?: string) => Promise<string>;
}

async function pay(env?: ShopEnvironment): Promise<Paid> {
  const shop = env ?? await openShop();
  const { cookie, state } = await goToBank(shop);
  const back = await shop.fetch(callback({ code, state, iss: issuer }, cookie));
  const path = back.headers.get("location") ?? "";
  return {
    env: shop,
    read: async (below = "") => await (await shop.fetch(get(`${path}${below}`, cookie))).text(),
  };
}

/** The overview and each message's own page. */
async function readAll({ read }: Paid): Promise<readonly string[]> {
  const overview = await read("/messages");
  const count = overview.match(/messages\/\d+"/g)?.length ?? 0;
  return [
    overview,
    ...await Promise.all(Array.from({ length: count }, (_, index) => read(`/messages/${index + 1}`))),
  ];
}

Deno.test("GET messages tells every step in its order, and each has a page with its JWTs decoded", async () => {
  const paid = await pay();
  const [overview = "", ...pages] = await readAll(paid);
  const steps = [
    "1. Find the bank’s authorization server",
    "2. Get a token for the shop itself",
    "3. Create the consent",
    "4. Fetch the platform’s keys",
    "5. Push the authorization request",
    "6. Send the customer to the platform",
    "7. The customer comes back with a code",
    "8. Exchange the code for a token",
    "9. Make the payment",
  ];
  assertEquals([...overview.matchAll(/messages\/\d+">([^<]*)/g)].map(([, title]) => title), steps);
  assertEquals(pages.map((page) => /<h1>([^<]*)/.exec(page)?.[1]), steps);
  const decoded = pages.map((page) => [...page.matchAll(/<h3>([\w-]+), decoded/g)].map(([, where]) => where));
  const token = ["DPoP", "client_assertion"];
  const signed = ["DPoP", "x-jws-signature", "x-jws-signature"];
  assertEquals(decoded, [[], token, signed, [], ["client_assertion"], [], [], token, signed]);
  assertMatch(pages[1] ?? "", /iat \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, nbf [^,]*, exp /);
  for (const text of ["dpop+jwt", "http://openbanking.org.uk/tan", consentId]) {
    assertStringIncludes(pages[2] ?? "", text);
  }
});

Deno.test("GET messages, each message and their JSON hold no secret that could be used", async () => {
  const paid = await pay();
  for (const text of [...await readAll(paid), await paid.read("/messages.json")]) {
    for (const secret of [accessToken, requestUri, code]) assertEquals(text.includes(secret), false, secret);
    for (const { headers, body } of paid.env.seen) {
      const form = new URLSearchParams(body);
      const secrets = [
        headers.get("dpop"),
        headers.get("x-jws-signature"),
        form.get("client_assertion"),
        form.get("code_verifier"),
      ];
      for (const secret of secrets) assert(secret === null || !text.includes(secret));
    }
  }
});

Deno.test("GET messages/:number is 404 for a message that there is not", async () => {
  const { read } = await pay();
  for (const number of ["0", "10", "x", "1e0", "-1", ""]) {
    assertStringIncludes(await read(`/messages/${number}`), "<h1>Not found</h1>");
  }
});

interface ShownOrder {
  readonly bank: string;
  readonly phase: string;
  readonly status: string;
  readonly messages: readonly {
    readonly step: string;
    readonly method: string;
    readonly repeated?: { readonly times: number };
    readonly response?: { readonly status: number; readonly body: string };
  }[];
}

Deno.test("GET messages.json has the page's messages as data", async () => {
  const { read } = await pay();
  const { bank, phase, status, messages } = JSON.parse(await read("/messages.json")) as ShownOrder;
  assertEquals([bank, phase, status], ["BANKA", "paid", "AcceptedSettlementInProcess"]);
  assertEquals(messages.length, 9);
  const { step, method, response } = present(messages[8]);
  assertEquals([step, method, response?.status], ["Make the payment", "POST", 201]);
});

Deno.test("GET messages counts reads that are answered alike, and keeps each new answer", async () => {
  const { env, read } = await pay();
  env.answers.set(
    readPath,
    ["Pending", "Pending", "Pending", "Rejected", "Rejected"].map((word) => () => paymentAnswer(200, word)),
  );
  for (let look = 0; look < 5; look++) await read();
  const { messages } = JSON.parse(await read("/messages.json")) as ShownOrder;
  const reads = messages.slice(9).map(({ repeated, response }) => {
    const { Data } = JSON.parse(response?.body ?? "") as Payment;
    return [repeated?.times, Data.Status];
  });
  assertEquals(reads, [[3, "Pending"], [2, "Rejected"]]);
  assertStringIncludes(await read("/messages"), "the last of 3 alike since ");
});

Deno.test("GET messages marks what was rejected or never answered, and says why it stopped", async () => {
  const env = await openShop();
  env.answers.set(paymentsPath, [
    () => Promise.reject(new TypeError("connection reset")),
    () => json(503, {}),
    () => json(503, {}),
  ]);
  const page = await (await pay(env)).read("/messages");
  assertEquals([...page.matchAll(/<span class="status bad">([^<]*)/g)].map(([, text]) => text), [
    "no answer",
    "503 Service Unavailable",
    "503 Service Unavailable",
  ]);
  assertStringIncludes(page, "No answer: connection reset");
  assertStringIncludes(page, "<dt>Reason</dt>");
});

Deno.test("GET messages shows markup of an answer as text", async () => {
  const env = await openShop();
  const body = { Errors: [{ ErrorCode: "x", Message: `</pre><script>"&lt;"</script>` }] };
  env.answers.set(paymentsPath, [() => json(400, body)]);
  const page = await (await pay(env)).read("/messages/9");
  assertEquals(page.includes("<script"), false);
  assertStringIncludes(page, `"Message": "&lt;/pre&gt;&lt;script&gt;\\"&amp;lt;\\"&lt;/script&gt;"`);
});

Deno.test("showMessage cuts only secret and long values short", () => {
  const { headers, body } = showMessage(
    new Headers({ authorization: "DPoP abc", "content-type": "application/json" }),
    JSON.stringify({
      n: "A".repeat(342),
      link: `https://a.example/${"b".repeat(100)}`,
      text: "two words ".repeat(20),
    }),
  );
  assertEquals(headers, [["authorization", "DPoP … (3 characters)"], ["content-type", "application/json"]]);
  const shown = JSON.parse(body) as Readonly<Record<"link" | "n" | "text", string>>;
  assertEquals([shown.n, shown.link.length, shown.text.length], ["AAAAAAAA… (342 characters)", 118, 200]);
});

Deno.test("recordingFetch says how long an answer took, and how long none came", async () => {
  const log = emptyMessageLog();
  let now = 1000;
  const slow = recordingFetch(
    (url) => {
      now += 250;
      return url.endsWith("/a") ? Promise.resolve(new Response("x")) : Promise.reject(new Error("reset"));
    },
    log,
    () => now,
  );
  await slow("https://api.example/a", { method: "GET", headers: {} });
  await slow("https://api.example/b", { method: "GET", headers: {} }).catch(() => {});
  assertEquals(log.exchanges.map(({ at, tookMs, note }) => [at, tookMs, note]), [
    [1000, 250, undefined],
    [1250, 250, "No answer: reset"],
  ]);
});
