/** Requests the next page of a bank's statement by a signed inquiry to the address of its payment orders. */
import { releasePlaceWhile } from "../../../base/http/context.ts";
import { isCallable, postOnce, readBounded } from "../../../base/http/outgoing.ts";
import { unixSeconds } from "../../../base/kernel/clock.ts";
import { because, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import { type OwnKey, signClaims } from "../../../base/jose/own_key.ts";
import { MAX_BODY_BYTES } from "../../../base/limits.ts";
import { HANDOVER_SECONDS } from "../../../base/profile.ts";
import type { Inquiry } from "./hold.ts";
import { INQUIRY_JWT, representInquiry } from "./order_inquiry_representation.ts";

export interface AskBankDeps {
  readonly fetch: typeof fetch;
  readonly signer: OwnKey;
  readonly authUrl: string;
  /** Sandbox only: banks on this computer's loopback addresses. */
  readonly loopbackBanks: boolean;
}

/** A bank may have to search its archive. */
const TIMEOUT_MS = 30_000;

/** Returns the bank's response as received, or why there is none. `now` is in milliseconds. */
export async function askBank(
  deps: AskBankDeps,
  uri: string | undefined,
  asked: Inquiry,
  now: number,
): Promise<Result<string, Reason>> {
  if (uri === undefined) {
    return because("the bank has no payment_orders_uri: give its signed statement as a file");
  }
  if (!isCallable(uri, { loopback: deps.loopbackBanks })) {
    return because("payment_orders_uri may not be called");
  }
  try {
    const body = await inquiry(deps, asked, unixSeconds(now));
    const response = await releasePlaceWhile(() =>
      postOnce(deps.fetch, uri, {
        headers: { "content-type": "application/jose", accept: "application/jose" },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
    );
    if (response.status !== 200) {
      await response.body?.cancel();
      return because(`the bank answered the inquiry with status ${response.status}`);
    }
    const text = await readBounded(response, MAX_BODY_BYTES);
    return text === undefined ? because("the bank's statement has more than 64 KiB a page") : ok(text.trim());
  } catch (error) {
    return because(`the bank could not be asked: ${error instanceof Error ? error.name : "failed"}`);
  }
}

function inquiry({ authUrl, signer }: AskBankDeps, asked: Inquiry, iat: number): Promise<string> {
  const issued = { iss: authUrl, iat, exp: iat + HANDOVER_SECONDS, jti: crypto.randomUUID() };
  return signClaims(representInquiry(asked, issued), signer, INQUIRY_JWT.typ);
}
