/** Guard: a restored directory rejects public requests until an administrator has confirmed that it is up to date. */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { DirectoryEnv } from "./request_context.ts";
import type { RestoredCopy } from "../changes/restored_copy_store.ts";

const RETRY_AFTER_SECONDS = 60;

export function publishing(restored: RestoredCopy): MiddlewareHandler<DirectoryEnv> {
  return createMiddleware<DirectoryEnv>(async function published(_c, next): Promise<void> {
    await requireConfirmed(restored);
    await next();
  });
}

/** @throws {ApiError} `platform.unavailable` if the database is a restored copy that no administrator has confirmed */
export async function requireConfirmed(restored: RestoredCopy): Promise<void> {
  if (await restored.takenAt() === undefined) return;
  throw new ApiError("platform.unavailable", {
    detail: "restored, and not confirmed by an administrator",
    description: "The directory was restored from a copy and is being brought up to date.",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
