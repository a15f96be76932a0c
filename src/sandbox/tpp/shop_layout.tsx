/**
 * The frame of every shop page: language, viewport, sandbox notice, landmarks. Plain data in, HTML out, no
 * script.
 */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { html } from "hono/html";
import { merchant } from "./shop_catalogue.ts";

/** A whole page. */
export function ShopLayout(
  { title, children }: { readonly title: string; readonly children?: Child },
): JSX.Element {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title} - {merchant.name} (Sandbox)</title>
        <link rel="stylesheet" href="/assets/shop.css" />
        <link rel="icon" type="image/svg+xml" href="/assets/shop.svg" />
      </head>
      <body>
        <header>
          <p class="sandbox">
            <strong>Sandbox.</strong> This shop is a demonstration: no real money, no real goods.
          </p>
          <p class="brand">
            <a href="/">{merchant.name}</a>
          </p>
        </header>
        <main>
          {children}
        </main>
        <footer>
          <p>Paid by bank: you confirm at your own bank, the shop never sees your password.</p>
        </footer>
      </body>
    </html>
  );
}

/** A page as text, with its doctype. */
export async function renderPage(page: JSX.Element): Promise<string> {
  return String(html`<!DOCTYPE html>${await page}`);
}
