/**
 * What the holder of the platform's key can change so that a bundle still holds, and why nothing in the bundle shows it. Each
 * of them makes another leaf, so a checkpoint, an earlier bundle or a witness of the genuine log shows it.
 */
export const UNPROVABLE: readonly (readonly [RegExp, string])[] = [
  [/^(changed|swapped).*\.salt$/, "random bytes, and the digest over them is made anew"],
  [/\.record\.interactionId$/, "names a request in logs, and no evidence contains it"],
  [/\.record\.reason$/, "words of the platform or its operator; those of consent.Consumed are compared"],
  [
    /^(changed|swapped|a day later).*\.record\.at$/,
    "a time within the hour of what was signed, or of an entry that nobody else signed",
  ],
  [/^(changed|swapped).*\.position$/, "another position in the same order"],
  [
    /^(changed|swapped).*\.authentication(\.(certificate|assertion(\.(kid|jtiHash))?|proof))?$/,
    "another one of the same client: a proof covers method, address and token, and no case",
  ],
  [
    /bodies\.(order|handover)\.jws\.(header\.typ|claims\.(jti|iat|exp|nbf|act\.sub))$/,
    "the platform alone signs it, and no other party says the same",
  ],
  [
    /bodies\.order\.jws\.claims\.Data\.(Status|StatusUpdateDateTime|CreationDateTime|Charges)$/,
    "what the platform told the bank of a payment before the bank's own word",
  ],
  [/bodies(\.order_response(\.content\.(status|body))?)?$/, "the bank does not sign its answer to a push"],
  [
    /decision\.content\.page\.(expiresAt|bank\.name|accounts.*|tpp\.(role|registrationNumber|registeredSince|legalName|clientUri))$/,
    "a detail of the screen that nobody else has said",
  ],
  [/bodies\.pushed_request\.form\.\w+$/, "the form is not signed; client and consent are compared"],
  [/^\w+: (statement|checkpoint)\.claims\.iat$|^swapped: checkpoint(\.claims)?$/, "when the platform signed"],
  [
    /: checkpoint\.claims\.(restored.*|cell|iss)$/,
    "the names and restores of the log: a witness compares them",
  ],
  [/: keys\.N\.(alg|use|x5t|x5t#S256)$/, "says nothing that the key and its certificate do not say"],
  [/^moved: (documents|.*\.record\.documents)\.N$/, "the order of documents has no meaning"],
  [
    /^transplanted: (consent\.(authorization_requested|Consumed|Rejected|customer_late)|(payment\.Rejected|dispute\.decided) by operator)$/,
    "an entry in which no other party has signed anything, about this case",
  ],
  [
    /^proofs forged: (|(first )?(consent|payment|dispute)\.\w+( by operator)?|.*\.authentication\.token)$/,
    "any key makes a proof; whose it is, the party says",
  ],
  [
    /^rewritten: documents\.N\.(alg|use|x5t|x5t#S256)$/,
    "says nothing that the key and its certificate do not say",
  ],
  [/^paid from another account: .*everywhere$/, "the bank's report of the accounts was deleted"],
  [
    /^changed( everywhere)?: (payment\.Rejected|dispute\.decided) by operator\.record\.actor$/,
    "which operator closed the order or decided the dispute, the platform alone says",
  ],
  [/^doubled: .*\.record\.deleted\.N$/, "deleted is deleted"],
  [
    /^(changed|swapped)[ a-z]*: consent\.AwaitingAuthorisation\.record\.items(\.payer_accounts(\.(sha256|place))?)?$/,
    "the report was deleted, and its digest is all that is left",
  ],
  [
    /^(changed|swapped).*\.record\.issued\.(code|token)$/,
    "the hash of a code or token that only the platform has issued, and with which nothing was paid",
  ],
  [
    /^swapped: .*\.bodies\.status_report(\.signature)?$/,
    "the body names no payment; a proof of the bank's key does",
  ],
  [
    /: payment\.\w+\.bodies\.order\.jws\.claims\.Data\.DebtorAccount(\.\w+)?$/,
    "the customer chose the account at the bank, whose report was deleted",
  ],
  [
    /: first payment\.\w+\.bodies\.order\.jws\.claims\.(tpp\.\w+|Data\.)/,
    "a restore has lost the consent; the bank's statement, of which the entry has the hash, shows it",
  ],
  [
    /^renumbered: ((payment|dispute)\.\w+( by operator)?|payment_order\.outcome_unknown|consent\.(customer_late|customer_authenticated|token_issued|Rejected))\.removed$/,
    "the newest entry, or one of which only the platform knows",
  ],
  [/^renumbered: consent\.customer_late\.doubled$/, "an entry of which only the platform knows"],
  [
    /^renumbered: (consent\.(customer_sent_to_bank|customer_authenticated|token_issued|AwaitingAuthorisation|Rejected)|payment_order\.outcome_unknown|payment\.AcceptedSettlementInProcess)\.moved$/,
    "the order of two entries that do not depend on each other",
  ],
  [
    /: erased .*\.record\.items(\.\w+(\.(sha256|key|place))?)?$/,
    "the evidence was erased, and its digest is all that is left",
  ],
  [
    /: erased (.*\.record\.authentication\.\w+(\.\w+)?|documents\.N(\.(kid|use|alg|x5t|x5c|x5t#S256))?)$/,
    "nothing is left that a key of the TPP or the bank has signed",
  ],
  [
    /^(transplanted|proofs forged|renumbered|moved|doubled): erased (?!\w+\.erased.*\.(removed|doubled)$)(\w+ )?(consent|payment)\.\w+(\.(removed|moved|doubled)|\.record\.deleted\.N)?$/,
    "the order and the number of entries that only the platform has made, about what is erased",
  ],
  [/^proofs forged: erased $/, "nothing is left that binds a token to a key"],
  [
    /: (first )?retention\.applied(\.position|\.record(\.(sequence|at|actor|salt|reason))?|\.bodies(\.retention(\.salt|\.content(\.(until|rule|count|cases\.N))?)?)?)?$/,
    "the platform alone deletes, and says of which cases and by which rule",
  ],
];
