/** Draws a guide: sections with paragraphs, things to copy, lists and terms. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { inline } from "./schema_view.tsx";
import type { Block, Guide, GuideSection } from "./guide.ts";
import { renderPortalPage } from "./portal_frame.tsx";

/** The guide as a whole HTML document. */
export function renderGuide(path: string, { title, lead, sections }: Guide): string {
  return renderPortalPage({
    path,
    title,
    lead: <>{inline(lead)}</>,
    contents: sections.map((section) => [`#${section.id}`, section.title]),
    children: <GuideSections sections={sections} />,
  });
}

/** Sections under their headings. */
export function GuideSections(
  { sections }: { readonly sections: readonly GuideSection[] },
): JSX.Element {
  return (
    <>
      {sections.map(({ id, title, blocks }) => (
        <section aria-labelledby={id} class="card guide">
          <h2 id={id}>{title}</h2>
          {blocks.map((block) => <BlockView block={block} />)}
        </section>
      ))}
    </>
  );
}

function BlockView({ block }: { readonly block: Block }): JSX.Element {
  if (typeof block === "string") return <p>{inline(block)}</p>;
  if ("code" in block) return <Code about={block.about} code={block.code} />;
  if ("list" in block) return <ol class="steps">{block.list.map((item) => <li>{inline(item)}</li>)}</ol>;
  if ("terms" in block) return <Terms terms={block.terms} />;
  return (
    <ul class="see">
      {block.see.map(([href, text]) => (
        <li>
          <a href={href}>{text}</a>
        </li>
      ))}
    </ul>
  );
}

/** One line is broken for reading, which copying undoes. A box that scrolls must be reachable by keyboard (WCAG 2.1.1) and say what it is (4.1.2). */
function Code({ about, code }: { readonly about: string; readonly code: string }): JSX.Element {
  return (
    <figure>
      <figcaption>{inline(about)}</figcaption>
      {code.includes("\n")
        ? (
          <pre tabindex={0} role="group" aria-label={about.replaceAll("`", "")}>
            <code>{code}</code>
          </pre>
        )
        : (
          <pre class="line">
            <code>{code}</code>
          </pre>
        )}
    </figure>
  );
}

function Terms(
  { terms }: { readonly terms: readonly (readonly [term: string, meaning: string])[] },
): JSX.Element {
  return (
    <dl class="facts">
      {terms.map(([term, meaning]) => (
        <div>
          <dt>{inline(term)}</dt>
          <dd>{inline(meaning)}</dd>
        </div>
      ))}
    </dl>
  );
}
