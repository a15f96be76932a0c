/**
 * `{directory_url}/sandbox/clock`: returns the sandbox's clock (GET) and, with the directory's administration token,
 * moves it (POST) or resets it to this computer's time (DELETE). Runs in front of the directory in a sandbox only;
 * neither directory nor platform has such a route.
 */
import { timingSafeEqual } from "hono/utils/buffer";
import { z } from "zod";
import type { SandboxClock } from "./clock.ts";

export interface ClockRouteDeps {
  readonly clock: SandboxClock;
  readonly adminToken: string;
}

type Handle = (request: Request) => Response | Promise<Response>;

const PATH = "/sandbox/clock";
const MAX_BODY_BYTES = 1024;
const MAX_SECONDS = 366 * 86_400;

const commandSchema = z.union([
  z.strictObject({ advance_seconds: z.int().min(0).max(MAX_SECONDS) }),
  z.strictObject({ now: z.iso.datetime({ offset: true }) }),
]);

/** The directory's handler with the clock routes in front of it. */
export function withClock(deps: ClockRouteDeps, directory: Handle): Handle {
  return async (request) => {
    const isClock = new URL(request.url).pathname === PATH;
    const response = isClock ? await answer(deps, request) : await directory(request);
    const headers = new Headers(response.headers);
    headers.set("date", new Date(deps.clock.now()).toUTCString()); // the listener would send this computer's time
    return new Response(response.body, { status: response.status, headers });
  };
}

async function answer(deps: ClockRouteDeps, request: Request): Promise<Response> {
  if (request.method === "GET") return json(200, showClock(deps.clock));
  if (request.method !== "POST" && request.method !== "DELETE") {
    return json(405, { error: "invalid_request" }, { allow: "GET, POST, DELETE" });
  }
  if (!await isAdministrator(request, deps.adminToken)) {
    return json(401, { error: "unauthorized" }, { "www-authenticate": "Bearer" });
  }
  if (await move(request, deps.clock)) return json(200, showClock(deps.clock));
  const error_description =
    "Send {advance_seconds} or {now} as JSON; now is a date-time with an offset, not " +
    "before this computer's own time and at most 366 days after it.";
  return json(400, { error: "invalid_request", error_description });
}

/** Returns false if the request contains no valid time or one out of range. */
async function move(request: Request, clock: SandboxClock): Promise<boolean> {
  if (request.method === "DELETE") return await clock.moveTo(Date.now());
  const text = await request.text();
  if (text.length > MAX_BODY_BYTES) return false;
  const command = commandSchema.safeParse(jsonOrNothing(text));
  if (!command.success) return false;
  return "now" in command.data
    ? await clock.moveTo(Date.parse(command.data.now))
    : await clock.advance(command.data.advance_seconds * 1000);
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function showClock(clock: SandboxClock): unknown {
  return { now: new Date(clock.now()).toISOString(), ahead_seconds: clock.aheadMs() / 1000 };
}

async function isAdministrator(request: Request, token: string): Promise<boolean> {
  const sent = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  return sent !== undefined && await timingSafeEqual(sent, token);
}

function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers: { ...headers, "cache-control": "no-store" } });
}
