/** The platform's keys: state, age, the times of their rotation, and what each step does to running traffic. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Fact } from "../../../pages/fact.tsx";
import { keysSchema } from "../key_routes.ts";
import { Instant, Read, State } from "../../../console/parts.tsx";
import { Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

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
        {({ Data: { Key: keys } }) => <Keys visit={visit} keys={keys} />}
      </Read>
      <section class="card">
        <h2>{phrase(language, "keys.steps")}</h2>
        <dl class="facts">
          {STAGES.map((stage) => (
            <Fact name={phrase(language, `keys.stage.${stage}`)}>
              {phrase(language, `keys.effect.${stage}`)}
            </Fact>
          ))}
        </dl>
      </section>
    </>
  );
}

function Keys(
  { visit, keys }: { readonly visit: Visit; readonly keys: readonly PlatformKey[] },
): JSX.Element {
  const { language } = visit;
  const rows = keys.map((key) => [
    <code dir="ltr">{key.KeyId}</code>,
    phrase(language, `keys.${key.Use}`),
    <State is={key.Stage !== "ended" ? "good" : "bad"} words={phrase(language, `keys.stage.${key.Stage}`)} />,
    <span class="number">{key.AgeDays ?? "–"}</span>,
    time(visit, key.UsedFromDateTime),
    time(visit, key.PublishedUntilDateTime),
    time(visit, key.CertificateUntilDateTime),
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

function time(visit: Visit, at: string | undefined): Child {
  return at === undefined ? "–" : <Instant visit={visit} at={at} />;
}
