/** The platform's keys: state, age, the times of their rotation, and what each step does to running traffic. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Fact } from "../../../pages/fact.tsx";
import { keysSchema } from "../key_routes.ts";
import { Instant, type PartProps, Read, State } from "../../../console/parts.tsx";
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
      <p class="lead">
        {phrase(language, "keys.lead", { command: <code dir="ltr">deno task platform-keys</code> })}
      </p>
      <Read visit={visit} answer={answer}>
        {({ Data: { Key: keys } }) => <Keys visit={visit} one={keys} />}
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

function Keys({ visit, one: keys }: PartProps<readonly PlatformKey[]>): JSX.Element {
  const { language } = visit;
  return (
    <section class="card">
      <Table
        language={language}
        name="keys.title"
        rows={keys}
        columns={{
          "column.key": ({ KeyId }) => <code dir="ltr">{KeyId}</code>,
          "column.use": ({ Use }) => phrase(language, `keys.${Use}`),
          "column.state": ({ Stage: stage }) => (
            <State
              is={stage === "ended" ? "bad" : "good"}
              words={phrase(language, `keys.stage.${stage}`)}
            />
          ),
          "column.age": ({ AgeDays }) => <span class="number">{AgeDays ?? "–"}</span>,
          "column.usedFrom": (key) => time(visit, key.UsedFromDateTime),
          "column.publishedUntil": (key) => time(visit, key.PublishedUntilDateTime),
          "column.certificate": (key) => time(visit, key.CertificateUntilDateTime),
        }}
      />
    </section>
  );
}

function time(visit: Visit, at: string | undefined): Child {
  return at === undefined ? "–" : <Instant visit={visit} at={at} />;
}
