/**
 * Every one-place change of a program that `deno task mutation` can try. A plugin of `deno lint`, whose parser knows the
 * strings, comments and types: each finding's message is one change, as JSON.
 */

/** What stands at the place of a change: decides how the program can keep both texts and choose while it runs. */
export type Form = "expression" | "statement" | "arguments";

/** One change of a program's text. */
export interface Change {
  readonly kind: string;
  readonly form: Form;
  /** From and to which position of the text. */
  readonly at: readonly [number, number];
  readonly to: string;
}

type Node = Deno.lint.Node;

const NEGATED = "negated comparison";
const OPPOSITE: Readonly<Record<string, readonly [kind: string, to: string]>> = {
  "<": ["border", "<="],
  "<=": ["border", "<"],
  ">": ["border", ">="],
  ">=": ["border", ">"],
  "===": [NEGATED, "!=="],
  "!==": [NEGATED, "==="],
};

const plugin: Deno.lint.Plugin = {
  name: "mutation",
  rules: {
    change: {
      create(context): Deno.lint.LintVisitor {
        const textOf = (node: Node): string => context.sourceCode.getText(node);
        return visitor(textOf, context.sourceCode.text, (node, kind, to, place) => {
          const form = place !== undefined ? "arguments" : formOf(node);
          const [from, end] = place ?? node.range;
          const change: Change = { kind, form, at: [from, end], to };
          context.report({ node, message: JSON.stringify(change) });
        });
      },
    },
  },
};

export default plugin;

function formOf({ type }: Node): Form {
  return type.endsWith("Statement") ? "statement" : "expression";
}

type Report = (node: Node, kind: string, to: string, at?: readonly [number, number]) => void;

function visitor(textOf: (node: Node) => string, text: string, report: Report): Deno.lint.LintVisitor {
  return { ...conditions(textOf, text, report), ...calls(textOf, report), ...values(textOf, text, report) };
}

function conditions(textOf: (node: Node) => string, text: string, report: Report): Deno.lint.LintVisitor {
  const sideOf = (node: Node): string =>
    node.type === "LogicalExpression" ? `(${textOf(node)})` : textOf(node);
  /** A comparison has a change of its own. */
  const negate = (test: Node): void => {
    const changed = test.type === "BinaryExpression" && OPPOSITE[test.operator]?.[0] === NEGATED;
    if (!changed) report(test, "negated condition", `!(${textOf(test)})`);
  };
  return {
    BinaryExpression(node): void {
      const change = OPPOSITE[node.operator];
      const [start, end] = [node.left.range[1], node.right.range[0]];
      const gap = text.slice(start, end);
      if (change === undefined || gap.replaceAll(/[()\s]/g, "") !== node.operator) return;
      const other = gap.replace(node.operator, () => change[1]);
      report(node, change[0], text.slice(node.range[0], start) + other + text.slice(end, node.range[1]));
    },
    LogicalExpression(node): void {
      if (node.operator === "??") return report(node, "dropped default", sideOf(node.left));
      report(node, "dropped condition", sideOf(node.left));
      report(node, "dropped condition", sideOf(node.right));
    },
    IfStatement(node): void {
      negate(node.test);
      if (node.alternate === null && leaves(node.consequent)) report(node, "dropped check", ";");
    },
    ConditionalExpression({ test }): void {
      negate(test);
    },
  };
}

/** Whether a branch ends by leaving the function or the round. */
function leaves(branch: Node): boolean {
  const last = branch.type === "BlockStatement" ? branch.body.at(-1) : branch;
  return /^(?:Throw|Return|Continue|Break)Statement$/.test(last?.type ?? "");
}

function calls(textOf: (node: Node) => string, report: Report): Deno.lint.LintVisitor {
  return {
    ExpressionStatement(node): void {
      const { expression } = node;
      const awaited = expression.type === "AwaitExpression";
      if ((awaited ? expression.argument : expression).type !== "CallExpression") return;
      report(node, "dropped call", ";");
      if (awaited) report(node, "removed await", `${textOf(expression.argument)};`);
    },
    CallExpression(node): void {
      const [one, other] = node.arguments;
      if (node.arguments.length !== 2 || one === undefined || other === undefined) return;
      if (!isSimple(one) || !isSimple(other) || textOf(one) === textOf(other)) return;
      if (SYMMETRIC.test(textOf(node.callee))) return;
      const to = `${textOf(other)}, ${textOf(one)}`;
      report(node, "swapped arguments", to, [one.range[0], other.range[1]]);
    },
  };
}

/** The order of their arguments does not matter. */
const SYMMETRIC = /^Math\.(?:min|max)$|^(?:same|equal|isSameAccount$)/;

function isSimple(node: Node): boolean {
  return node.type === "Identifier" || node.type === "MemberExpression";
}

function values(textOf: (node: Node) => string, text: string, report: Report): Deno.lint.LintVisitor {
  return {
    Literal(node): void {
      if (node.parent.type.startsWith("TS") && node.parent.type !== "TSAsExpression") return;
      if (node.parent.type === "Property" && node.parent.key === node) return;
      if (typeof node.value === "boolean") report(node, "flipped boolean", String(!node.value));
      if (typeof node.value === "number" && !isCapacity(node.parent, text)) {
        report(node, "other number", String(otherNumber(numberOf(textOf(node)))));
      }
    },
    ArrayExpression(node): void {
      without(node.elements, textOf, (kept, name) => report(node, `removed element ${name}`, `[${kept}]`));
    },
    ObjectExpression(node): void {
      without(node.properties, textOf, (kept, name) => report(node, `removed member ${name}`, `{ ${kept} }`));
    },
  };
}

/** How much is read at once, or remembered by a limiter or a cache: with another number it needs other memory, and does the same. */
function isCapacity(parent: Node, text: string): boolean {
  if (parent.type === "Property") return parent.key.type === "Identifier" && parent.key.name === "maxKeys";
  if (parent.type !== "VariableDeclarator" || parent.id.type !== "Identifier") return false;
  if (/^(?:PIECE|BATCH)$/.test(parent.id.name)) return true;
  return new RegExp(`(?:maxKeys:|\\bopenRecentlyUsed(?:<[^()]*>)?\\() *${parent.id.name}\\b`).test(text);
}

/** From here on a number is a time, a unit or a bound of memory, and one more of it makes no difference to anyone. */
const LARGE = 1000;

function otherNumber(number: number): number {
  return number < LARGE ? number + 1 : 2 * number;
}

/** The parser reads `10_000` as NaN. */
function numberOf(text: string): number {
  return Number(text.replaceAll("_", ""));
}

/** The text without each of the parts in turn. */
function without(
  parts: readonly Node[],
  textOf: (node: Node) => string,
  each: (kept: string, removed: string) => void,
): void {
  // the parser's range of `...rest` ends after the dots
  const texts = parts.map((part) =>
    part.type === "SpreadElement" ? `...(${textOf(part.argument)})` : textOf(part)
  );
  texts.forEach((removed, index) =>
    each(texts.toSpliced(index, 1).join(", "), removed.slice(0, 40).replaceAll(/\s+/g, " "))
  );
}
