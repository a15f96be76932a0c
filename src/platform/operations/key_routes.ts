/** `GET /operations/keys`: the platform's keys as the answering process has loaded them, without their private parts. */
import "reflect-metadata"; // before @peculiar/x509
import { z } from "@hono/zod-openapi";
import { X509Certificate } from "@peculiar/x509";
import type { KeyRing, ScheduledKey } from "../../base/jose/key_ring.ts";
import { type Clock, wireDateTime } from "../../base/kernel/clock.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { at, dataSchema, operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { operation } from "../guards/security/operation.ts";

export interface KeyRouteDeps {
  readonly ownKeyRing: Pick<KeyRing, "schedule">;
  readonly clock: Clock;
}

const DAY_MS = 86_400_000;

/** Schema of the keys. */
export const keysSchema = dataSchema({
  Key: z.array(
    z.strictObject({
      KeyId: z.string(),
      Use: z.enum(["sig", "enc"]),
      Stage: z.enum(["next", "in_use", "former", "ended"]),
      AgeDays: z.int().optional().openapi({
        description: "Since it is used, or since its certificate begins.",
      }),
      UsedFromDateTime: at.optional(),
      PublishedUntilDateTime: at.optional().openapi({ description: "Absent without a successor." }),
      CertificateUntilDateTime: at.optional(),
    }).openapi("PlatformKey"),
  ),
});

const route = operationRoute({
  method: "get",
  path: "/operations/keys",
  operationId: "listPlatformKeys",
  tags: ["State"],
  summary: "The platform's keys and the times of their rotation",
  description: "Of the process that answers. Processes that were not reloaded have the keys of before.",
  answers: { 200: operationAnswer("Every key of the file", keysSchema) },
});

export function keyRoutes({ ownKeyRing, clock }: KeyRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(route, [], (c) => {
      return c.json({ Data: { Key: ownKeyRing.schedule.map((key) => represent(key, clock())) } });
    }),
  ];
}

type KeyOnWire = z.infer<typeof keysSchema>["Data"]["Key"][number];

function represent({ kid, use, stage, certificate, ...times }: ScheduledKey, now: number): KeyOnWire {
  const { usedFrom, publishedUntil } = times;
  const { notBefore, notAfter } = certificate === undefined ? {} : new X509Certificate(certificate);
  const since = usedFrom === undefined ? notBefore?.getTime() : usedFrom * 1000;
  const age = since === undefined || since > now ? {} : { AgeDays: Math.floor((now - since) / DAY_MS) };
  return {
    KeyId: kid,
    Use: use,
    Stage: stage,
    ...age,
    ...(usedFrom === undefined ? {} : { UsedFromDateTime: wireDateTime(usedFrom * 1000) }),
    ...(publishedUntil === undefined ? {} : { PublishedUntilDateTime: wireDateTime(publishedUntil * 1000) }),
    ...(notAfter === undefined ? {} : { CertificateUntilDateTime: wireDateTime(notAfter.getTime()) }),
  };
}
