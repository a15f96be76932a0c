/**
 * A page with one sentence: not found, refused, broken. Says nothing about why a stranger was turned away.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { ShopLayout } from "./shop_layout.tsx";

/** The page. */
export function NoticePage(
  { heading, sentence }: { readonly heading: string; readonly sentence: string },
): JSX.Element {
  return (
    <ShopLayout title={heading}>
      <h1>{heading}</h1>
      <p>{sentence}</p>
      <p>
        <a href="/">Back to the menu</a>
      </p>
    </ShopLayout>
  );
}
