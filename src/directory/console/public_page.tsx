/** The public list of participants as an HTML page: one accessible table a role, without scripts and external resources. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { sha256Bytes } from "../../base/kernel/identifiers.ts";
import { CONSOLE_STYLE as style } from "../../console/assets.ts";
import { Day } from "../../console/parts.tsx";
import { phrase as commonPhrase, words as commonWords } from "../../console/phrase.ts";
import { directionOf, type Language, LANGUAGES, LOCALES } from "../../pages/language.ts";
import { Languages } from "../../pages/layout.tsx";
import type { PublicParticipant } from "../http/participant_representation.ts";
import type { DrawList, Page } from "../http/public_routes.ts";
import { Status, Table } from "./parts.tsx";
import { phrase, words } from "./phrase.ts";

interface DocumentProps {
  readonly language: Language;
  readonly directory: Parameters<DrawList>[1];
  readonly participants: readonly PublicParticipant[];
}

/** Renders the page. */
export async function publicPage(
  language: Language,
  directory: DocumentProps["directory"],
  participants: readonly PublicParticipant[],
): Promise<Page> {
  const styleHash = (await sha256Bytes(new TextEncoder().encode(style))).toBase64();
  const page = <Document language={language} directory={directory} participants={participants} />;
  return {
    html: `<!doctype html>${await page.toString()}`,
    contentSecurityPolicy:
      `default-src 'none'; style-src 'sha256-${styleHash}'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'`,
  };
}

function Document(props: DocumentProps): JSX.Element {
  const { language, directory: { environment } } = props;
  const title = words(language, "public.title");
  return (
    <html lang={language} dir={directionOf(language)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} (${words(language, environmentKey(environment))})`}</title>
        <meta name="description" content={words(language, "public.description")} />
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body class="console">
        <a class="skip" href="#main">{commonPhrase(language, "layout.skip")}</a>
        <header>
          <div class="bar">
            <p class="product">{title}</p>
            <Languages
              label={commonWords(language, "layout.language")}
              language={language}
              links={LANGUAGES.map((other) => ({ language: other, href: `?lang=${other}` }))}
            />
          </div>
        </header>
        <Main {...props} />
      </body>
    </html>
  );
}

function Main({ language, directory, participants }: DocumentProps): JSX.Element {
  return (
    <main id="main" tabindex={-1}>
      <h1>{phrase(language, "participants.title")}</h1>
      <p class="lead">
        {phrase(language, "public.lead", {
          environment: words(language, environmentKey(directory.environment)),
          issuer: <code dir="ltr">{directory.issuer}</code>,
          keys: <a href="/jwks">{phrase(language, "public.keys")}</a>,
          authority: <a href="/ca.pem">{phrase(language, "public.authority")}</a>,
        })}
      </p>
      {ROLES.map((role) => (
        <List
          language={language}
          title={`public.${role}`}
          participants={participants.filter((one) => one.role === role)}
        />
      ))}
    </main>
  );
}

const ROLES = ["ASPSP", "PISP"] as const;

function environmentKey(environment: string): "environment.Sandbox" | "environment.Production" {
  return environment === "Sandbox" ? "environment.Sandbox" : "environment.Production";
}

function List(
  { language, title, participants }: Pick<DocumentProps, "language" | "participants"> & {
    readonly title: `public.${typeof ROLES[number]}`;
  },
): JSX.Element {
  const { compare } = new Intl.Collator(LOCALES[language]);
  const sorted = participants.toSorted((one, other) => compare(one.org_name, other.org_name));
  return (
    <section class="card">
      <h2>{phrase(language, title)}: {participants.length}</h2>
      {participants.length === 0 ? <p>{phrase(language, "public.none")}</p> : (
        <Table
          language={language}
          name={title}
          rows={sorted}
          columns={{
            "column.organisation": ({ org_name: name, org_id: id }) => [
              <bdi>{name}</bdi>,
              <code class="detail" dir="ltr">{id}</code>,
            ],
            "column.status": (one) => <Status language={language} is={one.org_status} />,
            "column.software": (one) => [
              <Status language={language} is={one.software_client_status} />,
              <code class="detail" dir="ltr">{one.software_client_id}</code>,
            ],
            "public.since": ({ since }) => <Day language={language} at={since} />,
            "file.keys": (one) => <KeySets language={language} one={one} />,
          }}
        />
      )}
    </section>
  );
}

type Props = Pick<DocumentProps, "language"> & { readonly one: PublicParticipant };

function KeySets({ language, one: { org_id: id, org_name: name } }: Props): JSX.Element {
  return (
    <>
      <a href={`/participants/${id}/jwks`} aria-label={words(language, "public.activeOf", { name })}>
        {phrase(language, "public.active")}
      </a>{" "}
      <a href={`/participants/${id}/jwks/revoked`} aria-label={words(language, "public.revokedOf", { name })}>
        {phrase(language, "public.revoked")}
      </a>
    </>
  );
}
