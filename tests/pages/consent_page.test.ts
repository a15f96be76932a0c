import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { renderConsentPage } from "../../src/pages/consent_page.tsx";
import { LANGUAGES } from "../../src/pages/language.ts";
import { consentView } from "support/ui_samples.ts";

/** The text that a sighted reader sees: no tags, no text for screen readers only. */
function visibleText(html: string): string {
  return html.replaceAll(/<span class="visually-hidden">.*?<\/span>|<wbr\/?>/g, "").replaceAll(
    /<[^>]+>/g,
    " ",
  )
    .replaceAll(/\s+/g, " ");
}

function inputOf(html: string, id: string): string {
  return new RegExp(`<input[^>]*id="${id}"[^>]*>`).exec(html)?.[0] ?? "";
}

Deno.test("renderConsentPage shows who asks, whom and how much is paid, and the reference [AZ13]", () => {
  const text = visibleText(renderConsentPage(consentView(), "en"));
  for (
    const shown of [
      "Northlight Payments Ltd",
      "Payment initiation service provider",
      "12 March 2024",
      "SC-7f3a2b10-5c1d-4e8f-9a6b-2d4c8e0f1a3b",
      "NI 4711-0815",
      "To, as written by Northlight Payments Ltd and not checked Example Shop Ltd",
      "Written by Northlight Payments Ltd , not checked: Reference ORDER-1001 Message Two cups",
      "Back to Northlight Payments Ltd",
      "Example Shop Ltd",
      "GB33 BUKB 2020 1555 5555 55",
      "€12.50",
      "ORDER-1001",
      "Two cups and a teapot, delivered on Friday",
      "Banco Aurora",
      "€1,250.00",
      "12 minutes",
      "10:12 UTC",
      "no real money moves here",
    ]
  ) assertStringIncludes(text, shown);
});

Deno.test("renderConsentPage has one form with csrf, accounts and two decisions", () => {
  const html = renderConsentPage(consentView(), "en");
  assertEquals(html.match(/<form/g)?.length, 1);
  assertStringIncludes(html, '<form id="consent" method="post" action="/BANKA/consent">');
  assertStringIncludes(html, '<input type="hidden" name="csrf" value="csrf-token-of-this-flow">');
  assertEquals([...html.matchAll(/name="account" value="(\d)"/g)].map(([, value]) => value), [
    "0",
    "1",
    "2",
    "3",
  ]);
  assertEquals([...html.matchAll(/name="decision" value="(\w+)"/g)].map(([, value]) => value), [
    "accept",
    "refuse",
  ]);
  assertMatch(html, /<button class="refuse"[^>]* formnovalidate/); // rejecting needs no account
});

Deno.test("renderConsentPage lets only accounts that can pay be chosen, says why, and warns of a low balance [G3]", () => {
  const html = renderConsentPage(consentView(), "en");
  for (const id of ["account-0", "account-1", "account-2"]) {
    assertMatch(inputOf(html, id), / required/);
    assert(!/ disabled| checked/.test(inputOf(html, id)));
  }
  assertMatch(inputOf(html, "account-3"), / disabled/);
  const text = visibleText(html);
  assertStringIncludes(text, "The balance of this account is lower than the amount.");
  assertStringIncludes(text, "in another currency ( GBP ) than the payment ( EUR )");
});

Deno.test("renderConsentPage chooses the only account that can pay, but none with a warning [G3]", () => {
  const [, payable, low, other] = consentView().accounts;
  if (payable === undefined || low === undefined || other === undefined) throw new Error("no accounts");
  const chosen = renderConsentPage(consentView({ accounts: [payable, other] }), "en");
  assertMatch(inputOf(chosen, "account-1"), / checked/);
  const warned = renderConsentPage(consentView({ accounts: [low, other] }), "en");
  assert(!/ checked/.test(inputOf(warned, "account-2")), "the customer has not read the warning yet");
});

Deno.test("renderConsentPage offers rejection alone where no account can pay", () => {
  const accounts = consentView().accounts.filter(({ canPay }) => !canPay);
  const html = renderConsentPage(consentView({ accounts }), "en");
  assertEquals(html.match(/name="decision" value="(\w+)"/g), ['name="decision" value="refuse"']);
  const text = visibleText(html);
  assert(text.indexOf("None of your accounts can be used") < text.indexOf("The payment"), "said too late");
  assertStringIncludes(text, "Your accounts");
  assert(!/to decide|Which account/.test(text)); // no deadline and no choice is shown
});

Deno.test("renderConsentPage shows no card number beyond its last four digits", () => {
  const html = renderConsentPage(consentView(), "en").replaceAll(/[\s,]/g, "");
  assert(!html.includes("41111111"));
  assertStringIncludes(html, "1111");
});

Deno.test("renderConsentPage breaks amounts between thousands alone, and never after a minus", () => {
  const [first] = consentView().accounts;
  if (first === undefined) throw new Error("no account");
  const amount = { amount: "1234567.89", currency: "EUR" };
  const accounts = [{ ...first, balance: "-1250.5" }];
  const html = renderConsentPage(consentView({ amount, accounts }), "en");
  assertStringIncludes(
    html,
    '<span aria-hidden="true">€1,<wbr>234,<wbr>567.89</span><span class="visually-hidden">€1,234,567.89</span></bdi>',
  );
  assertStringIncludes(html, ">\u2212€1,<wbr>250.50</span>");
  const french = renderConsentPage(consentView({ amount, accounts }), "fr");
  assertStringIncludes(french, ">1\u202f<wbr>234\u202f<wbr>567,89<wbr>\u00a0€</span>");
});

Deno.test("renderConsentPage escapes what participants wrote, everywhere", () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror='a'>&amp;`;
  const html = renderConsentPage(
    consentView({
      tpp: { ...consentView().tpp, legalName: hostile, clientId: hostile, role: hostile },
      bank: { code: hostile, name: hostile },
      payee: { name: hostile, identification: hostile, schemeName: hostile },
      amount: { amount: hostile, currency: hostile },
      reference: hostile,
      unstructured: hostile,
      csrf: hostile,
      action: hostile,
      languageSwitch: [{ language: "en", href: hostile }],
      accounts: [{
        index: 0,
        schemeName: hostile,
        identification: hostile,
        balance: hostile,
        currency: hostile,
        canPay: false,
        why: "other_currency",
      }],
    }),
    "en",
  );
  assert(!html.includes("<script"));
  assert(!html.includes("<img"));
  assert(!/="[^"]*"[^\s>\/]/.test(html)); // every attribute ends where it should
});

Deno.test("renderConsentPage takes reordering and invisible characters out of names", () => {
  const name = "Shop\u202e\u2066\u200b\u0007 Ltd\u200f";
  const html = renderConsentPage(
    consentView({ payee: { ...consentView().payee, name }, reference: name }),
    "en",
  );
  assertStringIncludes(html, "<bdi>Shop Ltd</bdi>");
  assert(!/[\p{Cc}\p{Bidi_Control}\u200b]/u.test(html.replaceAll("\n", "")));
});

Deno.test("renderConsentPage takes reordering and invisible characters out of every part of an account", () => {
  const written = {
    schemeName: "XX.\u202eScheme",
    identification: "1\u200b2",
    secondaryIdentification: "1\u202e2",
  };
  const accounts = consentView().accounts.map((one) => ({ ...one, ...written }));
  assert(!/[\u202e\u200b]/.test(renderConsentPage(consentView({ accounts }), "en")));
});

Deno.test("renderConsentPage spells account numbers out for screen readers", () => {
  const html = renderConsentPage(consentView(), "en");
  assertStringIncludes(
    html,
    '<span>ES91</span> <span>2100</span> <span>0418</span> <span>4502</span> <span class="together"><span>0005</span>',
  );
  assertStringIncludes(html, '<span class="visually-hidden">E S 9 1, 2 1 0 0, 0 4 1 8,');
  assertStringIncludes(html, "<span>20-20-15</span> <span>55555555</span>");
});

for (const language of LANGUAGES) {
  Deno.test(`renderConsentPage in ${language} says its language and needs no script and no inline style`, () => {
    const html = renderConsentPage(consentView(), language);
    const direction = language === "ar" ? "rtl" : "ltr";
    assert(html.startsWith(`<!DOCTYPE html><html lang="${language}" dir="${direction}">`));
    assert(!/<script|<style|\sstyle=|\son\w+=|javascript:|\skey=/.test(html));
    const elsewhere = html.match(/(src|href|action)="(https?:)?\/\/[^"]*"/g);
    assertEquals(elsewhere, ['href="https://northlight.example/"']); // the way back
    assert(!/undefined|\[object|\{\w+\}/.test(html));
    assert(new TextEncoder().encode(html).length < 30_000);
  });
}
