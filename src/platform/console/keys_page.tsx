// deno-lint-ignore-file jsx-key -- precompiled JSX would draw a key as an attribute, and nothing is drawn twice
/** The platform's keys: state, age, the times of their rotation, and what each step does to running traffic. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { formatInstant } from "../../pages/formats.ts";
import type { Language } from "../../pages/language.ts";
import { keysSchema } from "../operations/key_routes.ts";
import { Read, State, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "./visit.ts";

type PlatformKey = z.infer<typeof keysSchema>["Data"]["Key"][number];

const STAGES = ["next", "in_use", "former", "ended"] as const;

export async function keysPage(visit: Visit): Promise<JSX.Element> {
  const { language } = visit;
  const answer = await visit.read("/operations/keys", keysSchema);
  return (
    <>
      <h1>{phrase(language, "keys.title")}</h1>
      <p class="lead">
        {phrase(language, "keys.lead", { command: <code dir="ltr">deno task platform-keys</code> })}
      </p>
      <Read visit={visit} answer={answer}>
        {({ Data: { Key: keys } }) => <Keys language={language} keys={keys} />}
      </Read>
      <section class="card">
        <h2>{phrase(language, "keys.steps")}</h2>
        <dl class="facts">
          {STAGES.map((stage) => (
            <div>
              <dt>{phrase(language, `keys.stage.${stage}`)}</dt>
              <dd>{phrase(language, `keys.effect.${stage}`)}</dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  );
}

function Keys(
  { language, keys }: { readonly language: Language; readonly keys: readonly PlatformKey[] },
): JSX.Element {
  const rows = keys.map((key) => [
    <code dir="ltr">{key.KeyId}</code>,
    phrase(language, `keys.${key.Use}`),
    <State good={key.Stage !== "ended"} words={phrase(language, `keys.stage.${key.Stage}`)} />,
    <span class="number">{key.AgeDays ?? "–"}</span>,
    time(language, key.UsedFromDateTime),
    time(language, key.PublishedUntilDateTime),
    time(language, key.CertificateUntilDateTime),
  ]);
  return (
    <section class="card">
      <Table
        language={language}
        name="keys.title"
        heads={[
          "column.key",
          "column.use",
          "column.state",
          "column.age",
          "column.usedFrom",
          "column.publishedUntil",
          "column.certificate",
        ]}
        rows={rows}
      />
    </section>
  );
}

function time(language: Language, at: string | undefined): Child {
  return at === undefined ? "–" : <time datetime={at}>{formatInstant(language, Date.parse(at))}</time>;
}
