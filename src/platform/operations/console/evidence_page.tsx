/** One piece of evidence of a case: what was signed and by which key, as text. Its proof is in the bundle. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { z } from "zod";
import { Fact } from "../../../pages/fact.tsx";
import { Read } from "../../../console/parts.tsx";
import type { Answer, Visit } from "../../../console/visit.ts";
import { idIn, readNames } from "./names.ts";
import { Actor, Coded } from "./parts.tsx";
import { phrase } from "./phrase.ts";

const bundleSchema = z.looseObject({
  entries: z.array(z.looseObject({
    record: z.looseObject({
      event: z.string(),
      actor: z.string(),
      items: z.array(z.looseObject({ kind: z.string(), sha256: z.string() })).optional(),
    }),
    bodies: z.array(z.looseObject({ bytes: z.string(), signature: z.string().optional() }).nullable()),
  })),
});

/** Names a piece: the id of its case, the entry, and the item of the entry, from 0. */
export interface PieceName {
  readonly id: string;
  readonly entry: string;
  readonly item: string;
}

export async function evidencePage(visit: Visit, { id, entry, item }: PieceName): Promise<JSX.Element> {
  const { language } = visit;
  const back = `/cases/${encodeURIComponent(id)}`;
  const answer = await visit.read(`/operations${back}`, bundleSchema);
  const piece = pieceIn(answer, Number(entry), Number(item));
  const by = piece.ok ? idIn(piece.value.actor) : "";
  const names = await readNames(visit, [by]);
  return (
    <>
      <p>
        <a href={`/console${back}`}>{phrase(language, "evidence.back")}</a>
      </p>
      <Read visit={visit} answer={piece}>
        {(piece) => drawPiece(visit, piece, names.get(by))}
      </Read>
    </>
  );
}

interface Shown {
  readonly kind: string;
  readonly sha256: string;
  readonly event: string;
  readonly actor: string;
  readonly bytes: Uint8Array;
  readonly signature: string | undefined;
}

function pieceIn(answer: Answer<z.infer<typeof bundleSchema>>, entry: number, item: number): Answer<Shown> {
  if (!answer.ok) return answer;
  const found = answer.value.entries[entry];
  const [named, body] = [found?.record.items?.[item], found?.bodies[item]];
  if (found === undefined || named === undefined || !body) {
    return {
      ok: false,
      status: 404,
      description: "The case has no such piece of evidence, or it was deleted.",
    };
  }
  const { event, actor } = found.record;
  const { kind, sha256 } = named;
  return {
    ok: true,
    value: { kind, sha256, event, actor, bytes: bytesOf(body.bytes), signature: body.signature },
  };
}

/** @param name of the TPP or the bank that acted */
function drawPiece(visit: Visit, piece: Shown, name: string | undefined): JSX.Element {
  const { language } = visit;
  const { header, content } = readable(piece);
  return (
    <>
      <section class="card">
        <dl class="facts">
          <Fact name={phrase(language, "evidence.kind")}>
            <Coded language={language} kind="proof" code={piece.kind} />
          </Fact>
          <Fact name={phrase(language, "column.event")}>
            <Coded language={language} kind="event" code={piece.event} />
          </Fact>
          <Fact name={phrase(language, "column.by")}>
            <Actor language={language} actor={piece.actor} name={name} />
            {name === undefined ? null : <code class="detail" dir="ltr">{piece.actor}</code>}
          </Fact>
          <Fact name={phrase(language, "evidence.sha256")}>
            <code dir="ltr">{piece.sha256}</code>
          </Fact>
        </dl>
      </section>
      {header === undefined ? null : <Text title={phrase(language, "evidence.header")} text={header} />}
      <Text title={phrase(language, "evidence.content")} text={content} />
    </>
  );
}

function Text({ title, text }: { readonly title: Child; readonly text: string }): JSX.Element {
  return (
    <section class="card proposal">
      <h2>{title}</h2>
      <pre tabindex={0} lang="en" dir="ltr">{text}</pre>
    </section>
  );
}

/** A JWT by its parts, a JSON document with indents, and anything else as it is. */
function readable({ bytes, signature }: Shown): { readonly header?: string; readonly content: string } {
  const text = new TextDecoder().decode(bytes);
  const [header, content] = text.split(".").map(decoded);
  if (header !== undefined && content !== undefined) return { header, content };
  const [detached] = (signature ?? "").split(".").map(decoded);
  return { ...(detached === undefined ? {} : { header: detached }), content: indented(text) ?? text };
}

/** A segment of a JWS (RFC 7515 §3.1) that is JSON. */
function decoded(segment: string): string | undefined {
  try {
    return indented(new TextDecoder().decode(bytesOf(segment)));
  } catch {
    return undefined; // not base64url
  }
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}

function indented(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}
