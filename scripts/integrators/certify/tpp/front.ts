/**
 * The misbehaving front: stands between the TPP and the real platform, behind real TLS with client certificates. It
 * records what the TPP sends and lets one misbehaviour at a time change what the platform answers. Banks pass unseen.
 */
import type { PlatformFront } from "../../../../src/sandbox/ecosystem/ecosystem.ts";
import type { FrontDoor } from "../../../../src/sandbox/ecosystem/tls_front_door.ts";
import { type Exchange, findEndpoint } from "./exchange.ts";
import { type Impostor, openImpostor } from "./impostor.ts";

/**
 * One misbehaviour. Gets a request, how many of its kind (endpoint and method) came before it in this run, and a
 * function that hands it to the platform. Returns undefined to behave well.
 */
export type Misbehaviour = (
  exchange: Exchange,
  before: number,
  forward: () => Promise<Response>,
) => Promise<Response> | undefined;

/** The front of one ecosystem. */
export interface Front extends PlatformFront {
  /** Starts a recording. */
  record(misbehaviour?: Misbehaviour): Recording;
  /** Puts a server with another certificate in the place of the platform's API. */
  impostor(): Promise<Impostor>;
}

/** The requests of the TPP between two moments. */
export interface Recording extends Disposable {
  readonly exchanges: readonly Exchange[];
}

type Platform = (request: Request) => Response | Promise<Response>;

/** More requests than that are answered with 503 and not recorded. */
const MAX_EXCHANGES = 300;
const RECORDED_BODY_CHARACTERS = 131_072;

/**
 * A front that knows the TPP by its transport certificate.
 *
 * @param certificate returns the TPP's certificate as the front door writes it (RFC 9440), once it is known
 */
export function openFront(certificate: () => string | undefined): Front {
  const doors: FrontDoor[] = [];
  let current: { exchanges: Exchange[]; misbehaviour: Misbehaviour | undefined } | undefined;
  return {
    opened: (door) => void doors.push(door),
    impostor: () => openImpostor(doors),
    record(misbehaviour) {
      const recording = { exchanges: [], misbehaviour };
      current = recording;
      return {
        exchanges: recording.exchanges,
        [Symbol.dispose]: () => void (current = current === recording ? undefined : current),
      };
    },
    async handle(host, request, platform) {
      const run = current;
      if (run === undefined || !isOfTpp(host, request, certificate())) return await platform(request);
      if (run.exchanges.length >= MAX_EXCHANGES) return new Response(null, { status: 503 });
      return await exchange(run, request, platform);
    },
  };
}

/** At the browser host, key set and metadata are read without a certificate. */
function isOfTpp(host: "api" | "browser", request: Request, certificate: string | undefined): boolean {
  if (host === "api") return certificate !== undefined && request.headers.get("client-cert") === certificate;
  return ["keys", "metadata"].includes(findEndpoint(new URL(request.url).pathname).endpoint);
}

async function exchange(
  { exchanges, misbehaviour }: { exchanges: Exchange[]; misbehaviour: Misbehaviour | undefined },
  request: Request,
  platform: Platform,
): Promise<Response> {
  const url = new URL(request.url);
  const at = performance.now();
  const bytes = new Uint8Array(await request.clone().arrayBuffer());
  const seen: Exchange = {
    at,
    ...findEndpoint(url.pathname),
    method: request.method,
    url,
    headers: new Headers(request.headers),
    body: new TextDecoder().decode(bytes).slice(0, RECORDED_BODY_CHARACTERS),
  };
  const before =
    exchanges.filter(({ endpoint, method }) => endpoint === seen.endpoint && method === seen.method).length;
  exchanges.push(seen);
  const forward = async (): Promise<Response> => {
    const answer = await platform(request);
    const body = await answer.clone().text();
    seen.platform = { status: answer.status, body: body.slice(0, RECORDED_BODY_CHARACTERS) };
    return answer;
  };
  try {
    return await (misbehaviour?.(seen, before, forward) ?? forward());
  } finally {
    seen.answeredAt = performance.now();
  }
}
