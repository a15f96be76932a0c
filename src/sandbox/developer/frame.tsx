/** The frame of the developer pages: the sandbox's notice, and links to the portal. In English. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { HtmlDocument } from "../../pages/html_document.tsx";
import { TRY_PATH } from "./operations.ts";

/** Addresses of the parts that the pages link to. */
export interface PartAddresses {
  readonly authUrl: string;
  readonly shopUrl: string;
}

export const PLAYGROUND_PATH = "/developer/playground";
export const SCRIPT_PATH = "/developer/playground.js";
export const STYLE_PATH = "/developer/style.css";
export const ICON_PATH = "/developer/icon.svg";

/** A whole page. */
export function DeveloperPage(
  { title, lead, addresses, script, children }: {
    readonly title: string;
    readonly lead: Child;
    readonly addresses: PartAddresses;
    readonly script?: string;
    readonly children?: Child;
  },
): JSX.Element {
  return (
    <HtmlDocument
      language="en"
      title={`${title}: sandbox`}
      stylesheet={STYLE_PATH}
      icon={ICON_PATH}
      hasFonts
      script={script}
      bodyClass="wide developer"
      skip="Skip to the content"
      header={<Header addresses={addresses} />}
      footer={null}
    >
      <div class="page">
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
        {children}
      </div>
    </HtmlDocument>
  );
}

function Header({ addresses: { authUrl } }: { readonly addresses: PartAddresses }): JSX.Element {
  const links = [
    [`${authUrl}/docs`, "Documentation"],
    [`${authUrl}/docs/reference`, "API reference"],
    [TRY_PATH, "Try it"],
    [PLAYGROUND_PATH, "Playground"],
    ["/", "Demo shop"],
  ] as const;
  return (
    <header>
      <p class="sandbox">Sandbox: no real money moves.</p>
      <div class="bar">
        <nav aria-label="Developers">
          <ul>
            {links.map(([href, text]) => (
              <li>
                <a href={href}>{text}</a>
              </li>
            ))}
          </ul>
        </nav>
      </div>
    </header>
  );
}
