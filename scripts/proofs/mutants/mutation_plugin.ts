/**
 * Every one-place change of a program that `deno task mutation` can try. A plugin of `deno lint`, whose parser knows the
 * strings, comments and types: each finding's message is one change, as JSON.
 */

/** One change of a program's text. */
export interface Change {
  readonly kind: string;
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
        return visitor(textOf, context.sourceCode.text, (node, kind, to, at = node.range) => {
          const change: Change = { kind, at: [at[0], at[1]], to };
          context.report({ node, message: JSON.stringify(change) });
        });
      },
    },
  },
};

export default plugin;

type Report = (node: Node, kind: string, to: string, at?: readonly [number, number]) => void;

function visitor(
  textOf: (node: Node) => string,
  text: string,
  report: Report,
): Deno.lint.LintVisitor {
  return {
    ...conditions(textOf, text, report),
    ...calls(textOf, report),
    ...values(textOf, report),
  };
}

function conditions(
  textOf: (node: Node) => string,
  text: string,
  report: Report,
): Deno.lint.LintVisitor {
  /** A comparison has a change of its own. */
  const negate = (test: Node): void => {
    const changed = test.type === "BinaryExpression" && OPPOSITE[test.operator]?.[0] === NEGATED;
    if (!changed) report(test, "negated condition", `!(${textOf(test)})`);
  };
  return {
    BinaryExpression(node): void {
      const change = OPPOSITE[node.operator];
      const between: readonly [number, number] = [node.left.range[1], node.right.range[0]];
      const gap = text.slice(...between);
      if (change === undefined || gap.replaceAll(/[()\s]/g, "") !== node.operator) return;
      report(node, change[0], gap.replace(node.operator, () => change[1]), between);
    },
    LogicalExpression(node): void {
      if (node.operator === "??") return report(node, "dropped default", textOf(node.left));
      report(node, "dropped condition", textOf(node.left));
      report(node, "dropped condition", textOf(node.right));
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

/** Whether a branch does nothing but throw or return. */
function leaves(branch: Node): boolean {
  const only = branch.type === "BlockStatement" && branch.body.length === 1 ? branch.body[0] : branch;
  return only?.type === "ThrowStatement" || only?.type === "ReturnStatement";
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
      const to = `${textOf(other)}, ${textOf(one)}`;
      report(node, "swapped arguments", to, [one.range[0], other.range[1]]);
    },
  };
}

function isSimple(node: Node): boolean {
  return node.type === "Identifier" || node.type === "MemberExpression";
}

function values(textOf: (node: Node) => string, report: Report): Deno.lint.LintVisitor {
  return {
    Literal(node): void {
      if (node.parent.type.startsWith("TS") && node.parent.type !== "TSAsExpression") return;
      if (typeof node.value === "boolean") report(node, "flipped boolean", String(!node.value));
      if (typeof node.value === "number") report(node, "other number", String(node.value + 1));
    },
    ArrayExpression(node): void {
      node.elements.forEach((removed, index) => {
        const kept = node.elements.filter((_, at) => at !== index).map((element) => textOf(element));
        report(node, `removed element ${textOf(removed).slice(0, 40)}`, `[${kept.join(", ")}]`);
      });
    },
  };
}
