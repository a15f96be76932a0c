/** `/operations/log`: the evidence log's newest checkpoint and its proofs, for witnesses (contract EV7). */
import { z } from "@hono/zod-openapi";
import { asHash, hashText } from "../../../base/merkle/tree.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type LogView, viewLog } from "../../evidence/evidence_log/log_proofs.ts";
import type { LogStore } from "../../evidence/evidence_log/log_store.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { dataSchema, operationAnswer, operationRoute } from "../../guards/http/operation_answers.ts";
import { operation } from "../../guards/security/operation.ts";

export interface LogRouteDeps {
  readonly evidenceLog: LogStore;
}

const tags = ["Evidence"];
const hash = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const size = z.string().regex(/^[1-9]\d{0,15}$/);
const milliseconds = z.string().regex(/^\d{1,15}$/);
const proof = z.array(hash).max(64);
const checkpoint = z.string();

const checkpointRoute = operationRoute({
  method: "get",
  path: "/operations/log/checkpoint",
  operationId: "getLogCheckpoint",
  tags,
  summary: "The newest checkpoint of the evidence log",
  description: "A JWT that signs the log's size and root. Keep it and compare the next one with it.",
  answers: {
    200: operationAnswer(
      "The checkpoint",
      dataSchema({ Checkpoint: checkpoint, Size: z.int() }),
    ),
  },
  errors: [404],
});
const consistencyRoute = operationRoute({
  method: "get",
  path: "/operations/log/consistency",
  operationId: "proveLogConsistency",
  tags,
  summary: "Proof that the log of one size has grown to another",
  description: "RFC 9162 §2.1.4. Sizes are numbers of leaves, from 1 to the size of the newest checkpoint.",
  request: { query: z.object({ from: size, to: size }) },
  answers: {
    200: operationAnswer("The proof", dataSchema({ Proof: proof })),
  },
  errors: [404],
});
const inclusionRoute = operationRoute({
  method: "get",
  path: "/operations/log/inclusion",
  operationId: "proveLogInclusion",
  tags,
  summary: "Proof that the log has a leaf hash",
  description:
    "RFC 9162 §2.1.3, under the newest checkpoint. `at` is the time of the entry, as its `record` in a bundle has " +
    "it. 404 until the leaf has its place.",
  request: { query: z.object({ leaf: hash, at: milliseconds }) },
  answers: {
    200: operationAnswer(
      "The proof",
      dataSchema({ Index: z.int(), Size: z.int(), Proof: proof, Checkpoint: checkpoint }),
    ),
  },
  errors: [404],
});

export function logRoutes({ evidenceLog }: LogRouteDeps): readonly PlatformEndpoint[] {
  const view = async (): Promise<LogView> => await viewLog(evidenceLog) ?? notInLog();
  return [
    operation(checkpointRoute, [], async (c) => {
      const { checkpoint: Checkpoint, size: Size } = await view();
      return c.json({ Data: { Checkpoint, Size } });
    }),
    operation(consistencyRoute, [], async (c) => {
      const [from, to] = [sizeIn("from", c.req.query("from")), sizeIn("to", c.req.query("to"))];
      const found = await (await view()).consistency(from, to) ?? notInLog();
      return c.json({ Data: { Proof: found.map(hashText) } });
    }),
    operation(inclusionRoute, [], async (c) => {
      const leaf = asHash(c.req.query("leaf")) ?? invalid("leaf must be a SHA-256 in base64url");
      const at = timeIn(c.req.query("at"));
      const log = await view();
      const { index: Index, proof: hashes } = await log.inclusion(leaf, at) ?? notInLog();
      return c.json({
        Data: { Index, Size: log.size, Proof: hashes.map(hashText), Checkpoint: log.checkpoint },
      });
    }),
  ];
}

function sizeIn(name: string, text: string | undefined): number {
  return size.safeParse(text).success ? Number(text) : invalid(`${name} must be a number of leaves, from 1`);
}

function timeIn(text: string | undefined): number {
  return milliseconds.safeParse(text).success
    ? Number(text)
    : invalid("at must be the time of the entry in milliseconds");
}

function invalid(description: string): never {
  throw new ApiError("operations.invalid_request", { description });
}

function notInLog(): never {
  throw new ApiError("operations.not_in_log");
}
