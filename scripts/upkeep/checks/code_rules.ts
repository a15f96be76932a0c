/** The lint rules about single expressions and words: unfinished work, casts, lone tests, the runtime and the clock. */
import { belowSrc, IN_SRC, PROGRAM_FILES, ruleFor, textRule } from "./linted_file.ts";

/** Words that mark unfinished work. Split so that this file does not break its own rule. */
const UNFINISHED = RegExp(
  `\\b(?:TO${""}DO|FIX${""}ME)\\b|(?://|\\*)\\s*XX${""}X\\b|not (?:yet )?[iI]mpl${""}emented`,
  "g",
);

/** Who may use the runtime. Everything else uses Fetch and WebCrypto. Paths below `src/`. */
const MAY_USE_DENO: readonly { readonly files: RegExp; readonly because: string }[] = [
  {
    files: /^base\/http\/(deno_(fetch|listener)|systemd_watchdog)\.ts$/,
    because: "they are what an entry for Deno is given",
  },
  { files: /^base\/store\/deno_kv\.ts$/, because: "the database is Deno's" },
  { files: /^base\/store\/database_file\.ts$/, because: "it finds out whether there is Deno KV" },
  { files: /^platform\/process\/main\.ts$/, because: "the entry for Deno" },
  { files: /^directory\/process\/main\.ts$/, because: "an entry reads the environment and listens" },
  { files: /^(client|sandbox)\//, because: "a program with files, ports and client certificates of its own" },
];

/** Who may read the computer's clock. Everything else gets a clock from `compose`. Paths below `src/`. */
const MAY_READ_CLOCK: readonly { readonly files: RegExp; readonly because: string }[] = [
  { files: /^base\/kernel\/clock\.ts$/, because: "it is the clock" },
  { files: /^base\/store\/deno_kv\.ts$/, because: "Deno KV computes expiry from the computer's clock" },
  { files: /^base\/store\/spent_jwts\.ts$/, because: "it forgets what the file's database deletes" },
  { files: /^base\/store\/sqlite_store\.ts$/, because: "it deletes expired entries, which is cleanup alone" },
  { files: /^(client|sandbox)\//, because: "external parties have clocks of their own" },
];

export const noUnfinishedWork: Deno.lint.Rule = textRule(PROGRAM_FILES, ({ text, report }) => {
  for (const { 0: words, index } of text.matchAll(UNFINISHED)) {
    report([index, index + words.length], `"${words.trim()}" marks unfinished work. Finish it.`);
  }
});

/** A cast to `unknown` and on says that neither type is known. */
export const noDoubleCast: Deno.lint.Rule = ruleFor(PROGRAM_FILES, ({ report }) => ({
  TSAsExpression(node): void {
    const inner = node.expression;
    if (inner.type !== "TSAsExpression" || inner.typeAnnotation.type !== "TSUnknownKeyword") return;
    report(node, "Decode the value instead of casting it twice.");
  },
}));

/** A lone test keeps all others from running. */
export const noLoneTest: Deno.lint.Rule = ruleFor(PROGRAM_FILES, ({ report }) => {
  const message = "Let the other tests run too: remove `only`.";
  return {
    CallExpression({ callee }): void {
      if (callee.type === "MemberExpression" && identifierName(callee.property) === "only") {
        report(callee, message);
      }
    },
    Property(node): void {
      const { key, value } = node;
      if (identifierName(key) === "only" && value.type === "Literal" && value.value === true) {
        report(node, message);
      }
    },
  };
});

export const noDeno: Deno.lint.Rule = ruleFor(IN_SRC, ({ path, report }) => {
  if (MAY_USE_DENO.some(({ files }) => files.test(belowSrc(path)))) return {};
  return {
    Identifier(node): void {
      if (node.name !== "Deno") return;
      report(
        node,
        "This file may not use Deno. Take what it needs from the entry that composes the program.",
      );
    },
  };
});

/** FAPI-G20: tests and simulations drive all time through the injected clock. */
export const noClock: Deno.lint.Rule = ruleFor(IN_SRC, ({ path, report }) => {
  if (MAY_READ_CLOCK.some(({ files }) => files.test(belowSrc(path)))) return {};
  const message =
    "This file may not read the computer's clock. Take a `Clock` from whoever composes the program.";
  return {
    MemberExpression(node): void {
      if (identifierName(node.object) === "Date" && identifierName(node.property) === "now") {
        report(node, message);
      }
    },
    NewExpression(node): void {
      if (identifierName(node.callee) === "Date" && node.arguments.length === 0) report(node, message);
    },
    Identifier(node): void {
      if (node.name === "performance") report(node, message);
    },
  };
});

function identifierName(node: Deno.lint.Node): string | undefined {
  if (node.type === "Identifier") return node.name;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
