/** Sample data for rendering the platform's pages in tests: one rich consent, and a reference of the real schemas. */
import { createRoute, OpenAPIHono } from "@hono/zod-openapi";
import { createdConsentSchema } from "../../src/platform/core/consents/consent_representation.ts";
import { consentRequestSchema } from "../../src/platform/core/consents/consent_schema.ts";
import {
  registerAnswers,
  resourceAnswer,
  resourceErrors,
} from "../../src/platform/guards/http/openapi_answers.ts";
import { bankParameter, idempotentHeaders } from "../../src/platform/guards/http/openapi_parameters.ts";
import { type PageWire } from "../../src/platform/guards/http/error_table.ts";
import { paymentRequestSchema } from "../../src/platform/core/payments/payment_schema.ts";
import type { ConsentView } from "../../src/pages/consent_page.tsx";
import type { ErrorView } from "../../src/pages/error_page.tsx";
import { LANGUAGES } from "../../src/pages/language.ts";
import type { Site } from "../../src/pages/site.ts";

/** A sandbox whose operator has said everything about itself. */
export const SITE: Site = {
  sandbox: true,
  operator: {
    name: "Andes Pay",
    logo: undefined,
    support: { text: "help@andes-pay.example", href: "mailto:help@andes-pay.example" },
    timeZone: "UTC",
  },
};

/** Every kind of error page there is. */
export const ERROR_PAGES: readonly PageWire["page"][] = [
  "link_unusable",
  "finished",
  "accepted",
  "refused",
  "other_browser",
  "not_authentic",
  "not_found",
  "wrong_method",
  "unavailable",
  "too_large",
];

/** An error page of this kind, its language switch leading to itself. */
export function errorView(page: ErrorView["page"], changes: Partial<ErrorView> = {}): ErrorView {
  return {
    page,
    interactionId: "5f0c7a52-7f65-4f0e-9c0b-1c7f4b0a9a11",
    site: SITE,
    languageSwitch: LANGUAGES.map((language) => ({ language, href: `/error-${page}?lang=${language}` })),
    ...changes,
  };
}

/** 2025-11-21T10:00:00Z. */
export const NOW = 1_763_719_200_000;

/** A payment with everything on it, and accounts of every kind. */
export function consentView(changes: Partial<ConsentView> = {}): ConsentView {
  return {
    tpp: {
      legalName: "Northlight Payments Ltd",
      clientId: "SC-7f3a2b10-5c1d-4e8f-9a6b-2d4c8e0f1a3b",
      registrationNumber: "NI 4711-0815",
      clientUri: "https://northlight.example/",
      role: "PISP",
      registeredSince: Date.UTC(2024, 2, 12),
    },
    bank: { code: "BANKA", name: "Banco Aurora" },
    payee: { name: "Example Shop Ltd", identification: "GB33BUKB20201555555555", schemeName: "UK.OBIE.IBAN" },
    amount: { amount: "12.50", currency: "EUR" },
    reference: "ORDER-1001",
    unstructured: "Two cups and a teapot, delivered on Friday",
    accounts: [
      {
        index: 0,
        schemeName: "UK.OBIE.IBAN",
        identification: "ES9121000418450200051332",
        balance: "1250.00",
        currency: "EUR",
        canPay: true,
      },
      {
        index: 1,
        schemeName: "UK.OBIE.IBAN",
        identification: "DE89370400440532013000",
        currency: "EUR",
        canPay: true,
      },
      {
        index: 2,
        schemeName: "UK.OBIE.PAN",
        identification: "4111111111111111",
        balance: "3.10",
        currency: "EUR",
        canPay: true,
        why: "insufficient_funds",
      },
      {
        index: 3,
        schemeName: "UK.OBIE.SortCodeAccountNumber",
        identification: "20201555555555",
        balance: "-20.5",
        currency: "GBP",
        canPay: false,
        why: "other_currency",
      },
    ],
    isAccountMissing: false,
    csrf: "csrf-token-of-this-flow",
    action: "/BANKA/consent",
    expiresAt: NOW + 12 * 60_000 + 30_000,
    now: NOW,
    site: SITE,
    languageSwitch: LANGUAGES.map((language) => ({ language, href: `/consent?lang=${language}` })),
    ...changes,
  };
}

/** The longest that every field may be, without a space to break at. */
export function longestConsentView(): ConsentView {
  const view = consentView();
  return {
    ...view,
    tpp: {
      ...view.tpp,
      legalName: "Unternehmensgesellschaft".repeat(14),
      registrationNumber: "7".repeat(64),
    },
    payee: { name: "N".repeat(350), identification: "I".repeat(256), schemeName: `CO.${"Scheme".repeat(6)}` },
    amount: { amount: "9999999999999.99", currency: "EUR" },
    reference: "R".repeat(35),
    unstructured: "M".repeat(140),
    accounts: view.accounts.map((account) => ({
      ...account,
      balance: "-9999999999999.99999",
      schemeName: "UK.OBIE.Wallet",
      identification: "w".repeat(256),
    })),
  };
}

/** The directory that the documentation names. */
export const DIRECTORY_FACTS = {
  directoryIssuer: "https://directory.example.com",
  registrationAudience: "https://directory.example.com/registration",
};

/** An OpenAPI document made of the platform's own schemas, as the platform makes it. */
export function referenceDocument(): unknown {
  const app = new OpenAPIHono();
  const request = (schema: typeof consentRequestSchema | typeof paymentRequestSchema) => ({
    params: bankParameter,
    headers: idempotentHeaders,
    body: { required: true, content: { "application/json": { schema } } },
  });
  for (
    const [name, tag, schema] of [
      ["domestic-payment-consents", "Consents", consentRequestSchema],
      ["domestic-payments", "Payments", paymentRequestSchema],
    ] as const
  ) {
    app.openAPIRegistry.registerPath(createRoute({
      method: "post",
      path: `/{bank}/${name}/v1`,
      tags: [tag],
      summary: `Create: ${name}`,
      description: "Answers the first result again for the same `x-idempotency-key`.",
      request: request(schema),
      responses: { 201: resourceAnswer("Created", createdConsentSchema), ...resourceErrors() },
    }));
  }
  registerAnswers(app.openAPIRegistry);
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Payment Initiation Platform",
      version: "0.1.0",
      description: "Domestic payments with strong customer authentication.",
    },
    servers: [{ url: "https://api.example.com", description: "API over mutual TLS" }],
  });
}
