/** The fuzzer finds no faults in the platform, and it finds planted ones. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fuzz, type Fuzzer, type FuzzResult, openFuzzer } from "../../scripts/proofs/fuzz/main.ts";
import type { Handler, Plant, WatchedStore } from "../../scripts/proofs/fuzz/targets.ts";
import { UsageError } from "../../scripts/command_line/run.ts";
import { type FuzzOptions, readFuzzOptions } from "../../scripts/proofs/fuzz/options.ts";
import { countOf, isRejected, isTaken } from "../../scripts/proofs/fuzz/report.ts";
import type { Host } from "../../scripts/proofs/fuzz/sample_request.ts";
import { isComplete } from "support/part_of.ts";

/** Wraps one of the apps. */
function around(wrapped: Host, wrap: (app: Handler, store: WatchedStore) => Handler): Plant {
  return (app, host, store) => host === wrapped ? wrap(app, store) : app;
}

/** An app that repeats the last valid request at a path for every request there. */
function lenient(path: string): Plant {
  return (app, _, store) => {
    const good = new Map<string, Request>();
    return async (request) => {
      const { pathname } = new URL(request.url);
      const known = good.get(pathname);
      const kept = request.clone();
      const answer = await app(request);
      if (!pathname.includes(path)) return answer;
      if (answer.status < 400 && known === undefined) good.set(pathname, kept);
      if (answer.status < 400 || known === undefined) return answer;
      await store.undo(); // the proof may be used up already
      return await app(known.clone());
    };
  };
}

const MUTATIONS = isComplete ? 50_000 : 5000;
const OPTIONS: FuzzOptions = { seed: 11, mutations: MUTATIONS, seconds: 3600, first: 0, only: "" };

Deno.test("fuzz: 5,000 changed requests are no failure, no forgery and no write by a rejection; every part of every request is both taken and rejected [J38]", async () => {
  const { lines, result } = await run({});
  assertEquals(result.findings.map(({ target, number, wrong }) => `${number} ${target}: ${wrong}`), []);
  const oneSided = ({ tallies }: FuzzResult): readonly string[] =>
    tallies.filter((tally) => countOf(tally, isTaken) === 0 || countOf(tally, isRejected) === 0)
      .map(({ name }) => name);
  for (const only of oneSided(result)) { // a part that is rarely taken, or rarely rejected, gets more
    const more = (await run({ only, mutations: 400 })).result;
    assertEquals([more.findings.map(({ wrong }) => wrong), oneSided(more)], [[], []], only);
  }
  assertEquals(result.tallies.reduce((sum, tally) => sum + countOf(tally, () => true), 0), OPTIONS.mutations);
  assert(/^seed 11: changes \d+ parts of \d+ good requests$/.test(lines[0] ?? ""), lines[0]);
  const [count, rest] = (lines.at(-1) ?? "").split(" mutations in ");
  assertEquals(count, String(MUTATIONS));
  assert(/^[\d.]+ s, \d+ a second; 0 findings of 0 kinds$/.test(rest ?? ""), rest);
});

Deno.test.afterAll(async () => {
  for (const fuzzer of fuzzers.values()) await (await fuzzer)[Symbol.asyncDispose]();
});

Deno.test("fuzz finds an app that throws, and repeats just the mutation that made it", async () => {
  const plant = around("api", (app) => async (request) => {
    if ((await request.clone().text()).includes("__proto__")) throw new TypeError("planted");
    return await app(request);
  });
  const only = "POST consent: JSON";
  const { lines, result: { findings: [found, ...others] } } = await run({ only, mutations: 400 }, plant);
  assert(found?.wrong.startsWith("the app threw: TypeError: planted"), found?.wrong);
  const repeated = lines.find((line) => line.startsWith("  repeat with: "));
  assertEquals(
    repeated,
    `  repeat with: deno task fuzz --seed 11 --first ${found?.number} --mutations 1 --only "${only}"`,
  );
  const words = repeated?.replaceAll('"', "").split("fuzz ")[1]?.replace(` --only ${only}`, "").split(" ") ??
    [];
  const again = readFuzzOptions([...words, "--only", only]) ?? OPTIONS;
  const { findings } = (await run(again, plant)).result;
  assertEquals(findings.map(({ number, target }) => [number, target]), [[found?.number, found?.target]]);
  assert(
    others.length > 0 && lines.filter((line) => line.startsWith("FINDING")).length === 1,
    "one kind, told once",
  );
});

Deno.test("fuzz finds an app that answers with a failure", async () => {
  const plant = around("directory", (app) => async (request) => {
    const answer = await app(request);
    return answer.status === 409 || answer.status === 400 ? new Response("busy", { status: 503 }) : answer;
  });
  assertEquals(await wrongs(plant, "directory: POST revoke: JSON", ["answered with 503: "]), [
    "answered with 503: ",
  ]);
});

Deno.test("fuzz finds an app that writes before it rejects", async () => {
  const plant = around("api", (app, store) => async (request) => {
    await store.commit({ checks: [], writes: [{ kind: "set", key: ["audit", "x"], value: request.url }] });
    return await app(request);
  });
  const wrong = await wrongs(plant, "token: form", ["rejected with 400, and yet wrote audit"]);
  assert(wrong.includes("rejected with 400, and yet wrote audit"), wrong.join());
  assert(
    (await wrongs(plant, "GET order: dpop", [])).includes("the good request: wrote audit at a GET"),
    "a read that writes",
  );
});

Deno.test("fuzz finds an app that rejects in another form", async () => {
  const plain: Plant = (app) => async (request) => {
    const answer = await app(request);
    return answer.status === 400 ? new Response("no", { status: 400, headers: answer.headers }) : answer;
  };
  for (const only of ["PUT order: JSON", "PAR: form", "directory: PUT status: JSON"]) {
    const wrong = await wrongs(plain, only, ["rejected with 400 in the wrong form: members"]);
    assert(wrong.includes("rejected with 400 in the wrong form: members"), `${only}: ${wrong.join()}`);
  }
  const cached = around("browser", (app) => async (request) => {
    const answer = await app(request);
    answer.headers.set("cache-control", "public");
    return answer;
  });
  const wrong = await wrongs(cached, "bank return: oAuthUrl", [
    "rejected with 400 in the wrong form: not no-store",
  ]);
  assert(wrong.includes("rejected with 400 in the wrong form: not no-store"), wrong.join());
});

Deno.test("fuzz finds an app that takes forged assertions, and assertions that say something else", async () => {
  const wanted = [
    "took a forged assertion",
    ...["aud", "iss", "exp", "alg"].map((claim) => `took the assertion with a wrong ${claim}`),
  ];
  const wrong = await wrongs(lenient("/token.oauth2/v1"), "token: client_assertion", wanted);
  for (const each of wanted) assert(wrong.includes(each), `${each}: ${wrong.join()}`);
});

const FORGERIES: Readonly<Record<string, readonly [path: string, wrong: string]>> = {
  "code: dpop": ["/token.oauth2/v1", "took a forged proof"],
  "registration: registration JWT": ["/register/v1", "took a forged registration"],
  "registration: software_statement": ["/register/v1", "took a forged statement"],
  "POST payment: x-jws-signature": ["/domestic-payments/v1", "took a forged payload signature"],
  "POST payment: JSON": ["/domestic-payments/v1", "took a document that differs"],
  "PAR: form": ["/par.oauth2/v1", "took a wrong redirect_uri"],
  "GET orders: request": ["/back-channel-payments/v1", "took another access token"],
  "bank return: oAuthUrl": ["/authorization.sca.oauth2", "took a forged seal"],
  "decision: form": ["/authorization.consent.oauth2", "took a wrong csrf"],
  "directory: POST statement: request": ["/statement", "took another administration token"],
  "directory: certificates: signing request": ["/certificates", "took a forged signing request"],
};

Deno.test("fuzz finds an app that takes what is forged", async (t) => {
  for (const [only, [path, wanted]] of Object.entries(FORGERIES)) {
    await t.step(`${only}: ${wanted}`, async () => {
      const wrong = await wrongs(lenient(path), only, [wanted]);
      assert(wrong.includes(wanted), wrong.join());
    });
  }
});

Deno.test("fuzz finds an app that sends browsers elsewhere", async () => {
  const plant = around("browser", (app) => async (request) => {
    const answer = await app(request);
    return answer.status === 400 ? Response.redirect("https://evil.example/", 303) : answer;
  });
  const sent = "sent to https://evil.example/";
  assertEquals(await wrongs(plant, "authorize: request", [sent]), [sent]);
});

Deno.test("fuzz finds a good request that is rejected", async () => {
  const plant = around("directory", () => () => Promise.resolve(new Response(null, { status: 404 })));
  const { findings } = (await run({ only: "directory: GET /jwks", mutations: 0 }, plant)).result;
  assert(findings.length > 0 && findings.every(({ number }) => number === undefined));
});

Deno.test("fuzz decides by its seed what it changes", async () => {
  const tallies = async (fuzzer: Fuzzer, seed: number): Promise<string[]> => {
    const { tallies } = await fuzz(fuzzer, { ...OPTIONS, seed, mutations: 200 }, () => {});
    return tallies.map(({ name, statuses }) => JSON.stringify([name, [...statuses]]));
  };
  const known = await openedOnce(OPTIONS.seed);
  const first = await tallies(known, OPTIONS.seed);
  const differing = (other: readonly string[]): number =>
    other.filter((tally, index) => tally !== first[index]).length;
  await using again = await openFuzzer(OPTIONS.seed);
  // Now and then a changed character of a sealed JWT, which is random, is the one that was there.
  assert(differing(await tallies(again, OPTIONS.seed)) <= 2);
  assert(differing(await tallies(known, OPTIONS.seed + 1)) > 10);
});

Deno.test("fuzz takes its options, and rejects what is none", async () => {
  assertEquals(
    readFuzzOptions(["--seconds", "5", "--seed", "1", "--mutations", "9", "--first", "3", "--only", "PAR"]),
    { seconds: 5, seed: 1, mutations: 9, first: 3, only: "PAR" },
  );
  assertEquals(readFuzzOptions([]).mutations, 10_000);
  assert((readFuzzOptions(["--seconds", "1"]).mutations ?? 0) > 1_000_000, "as many as there is time for");
  for (const wrong of [["--seed"], ["--seed", "x"], ["--seconds", "-1"], ["--seeds", "1"], ["3"]]) {
    let rejected: unknown;
    try {
      readFuzzOptions(wrong);
    } catch (error) {
      rejected = error;
    }
    assert(rejected instanceof UsageError, wrong.join(" "));
  }
  assertEquals(await exitStatus(["--mutations", "5", "--seed", "1"]), 0);
  await assertRejects(() => run({ only: "no such part" }), UsageError, '"no such part" in its name');
});

/** By seed: each run leaves the stores as they were. */
const fuzzers = new Map<number, Promise<Fuzzer>>();

function openedOnce(seed: number): Promise<Fuzzer> {
  const fuzzer = fuzzers.get(seed) ?? openFuzzer(seed);
  fuzzers.set(seed, fuzzer);
  return fuzzer;
}

/** A run without output, much shorter than {@link OPTIONS} if an app is wrapped. */
async function run(
  changes: Partial<FuzzOptions>,
  plant?: Plant,
): Promise<{ lines: readonly string[]; result: FuzzResult }> {
  const lines: string[] = [];
  const options = { ...OPTIONS, ...changes };
  const fuzzer = await openedOnce(options.seed);
  const result = await fuzz(fuzzer, options, (line) => void lines.push(line), plant);
  return { lines, result };
}

/** The kinds of findings of a part, each once: of 60 changes, or of up to 300 until all the wanted ones are found. */
async function wrongs(plant: Plant, only: string, wanted: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let first = 0; first < 300; first += 60) {
    const { result } = await run({ only, first, mutations: 60 }, plant);
    for (const { wrong } of result.findings) found.add(wrong);
    if (wanted.every((wrong) => found.has(wrong))) break;
  }
  return [...found];
}

async function exitStatus(args: readonly string[]): Promise<number> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "fuzz", ...args],
    stdout: "null",
    stderr: "null",
  });
  return (await command.output()).code;
}
