/** A named fact of a description list. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";

export interface FactProps {
  readonly name: Child;
  /** The class of a fact that stands out. */
  readonly kind?: "amount" | "payee";
  readonly children?: Child;
}

export function Fact({ name, kind, children }: FactProps): JSX.Element {
  return (
    <div class={kind}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
