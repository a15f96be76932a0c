/** Steps 2 and 3: the platform's statement and the checkpoint. */
import { canonicalForm, isSame, parsed, sha256Text } from "./encoding.ts";
import { type Bundle, type Deletion, hash, integer, object, text } from "./form.ts";
import { headerOf, verifyCompact } from "./signature.ts";

type Claims = Readonly<Record<string, unknown>>;

const isStatement = object({
  linked: (value: unknown) => value === "proven" || value === "not claimed",
  iss: text,
  cell: text,
  iat: integer,
  consent: text,
  payment: text,
  consent_entries: integer,
  payment_entries: integer,
  bundle_sha256: hash,
}, { reader: (value: unknown) => value === "tpp" || value === "bank" });
const isDeletion = object({ iss: text, cell: text, iat: integer, case: text, bundle_sha256: hash });
const isCheckpoint = object({ iss: text, cell: text, iat: integer, size: integer, root: hash }, {
  restored: object({ epoch: text, at: integer, copy_taken_at: integer, size: integer }),
});

/** Verifies a JWS of the platform by the key that its `kid` names. */
async function claimsOf({ keys }: Bundle | Deletion, jws: string, typ: string): Promise<Claims | undefined> {
  const key = keys.find(({ kid }) => kid === headerOf(jws)["kid"]);
  const signed = key && await verifyCompact(jws, key);
  return signed?.header["typ"] === typ ? parsed(signed.payload) as Claims : undefined;
}

/** Returns the claims of the statement, or what is wrong with it. */
export async function readStatement(bundle: Bundle | Deletion): Promise<Claims | string> {
  const [typ, hasClaims] = "entry" in bundle
    ? ["evidence-deletion+jwt", isDeletion]
    : ["evidence-bundle+jwt", isStatement];
  const claims = await claimsOf(bundle, bundle.statement, typ);
  if (claims === undefined) return "the statement is not signed by its key";
  if (!hasClaims(claims)) return "the statement has other claims";
  const { statement: _, ...rest } = bundle;
  if (claims["bundle_sha256"] !== sha256Text(canonicalForm(rest))) {
    return "the statement is of another bundle";
  }
  return claims;
}

/** Returns size and root of the checkpoint, or what is wrong with it. */
export async function readCheckpoint(
  bundle: Bundle | Deletion,
  statement: Claims,
): Promise<{ readonly size: number; readonly root: string } | string> {
  const claims = await claimsOf(bundle, bundle.checkpoint, "evidence-log-checkpoint+jwt");
  if (claims === undefined) return "the checkpoint is not signed by its key";
  if (!isCheckpoint(claims)) return "the checkpoint has other claims";
  if (!isSame([claims["iss"], claims["cell"]], [statement["iss"], statement["cell"]])) {
    return "the checkpoint is of another platform or cell";
  }
  return claims as { readonly size: number; readonly root: string; readonly [name: string]: unknown };
}
