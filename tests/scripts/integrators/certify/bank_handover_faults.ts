/** Faults in how a bank opens handover JWTs. */
import {
  type BankFault,
  BROKEN_SIGNATURE,
  CONTENT,
  ENCRYPTION_KEY,
  NONE,
  OPEN,
  opening,
  OTHER_ALGORITHM,
  PUBLIC_KEY,
  STRANGER,
  unless,
} from "./planted.ts";

const REQUIRED = 'requiredClaims: ["exp", "iat", "jti", ...has]';

/** Faults in how the bank opens handover JWTs. */
export const HANDOVER_FAULTS: readonly BankFault[] = [
  {
    name: "takes an expired handover",
    found: "BANK-H02",
    changes: [[OPEN, OPEN + unless('error.code === "ERR_JWT_EXPIRED"')]],
  },
  {
    name: "takes a handover of the future",
    found: "BANK-H03",
    changes: [[OPEN, OPEN + unless('error.claim === "nbf"')]],
  },
  {
    name: "takes a handover for another bank",
    found: "BANK-H06",
    changes: [[OPEN, OPEN + unless('error.claim === "aud"')]],
  },
  {
    name: "takes a handover for several banks",
    found: "BANK-H07",
    changes: [['typeof payload.aud !== "string"', "payload.aud === undefined"]],
  },
  {
    name: "takes a handover of another issuer",
    found: "BANK-H08",
    changes: [[OPEN, OPEN + unless('error.claim === "iss"')]],
  },
  {
    name: "takes a handover that was changed after it was signed",
    found: "BANK-H09",
    changes: [[OPEN, OPEN + BROKEN_SIGNATURE.replace("JWT)", `${CONTENT})`)]],
  },
  { name: "takes a handover without a signature", found: "BANK-H10", changes: opening(NONE) },
  {
    name: "takes claims without a signature around them",
    found: "BANK-H11",
    changes: [[OPEN, `${CONTENT}.startsWith("{") ? JSON.parse(${CONTENT}) : ${OPEN}`]],
  },
  {
    name: "takes a handover that is signed only",
    found: "BANK-H12",
    changes: [[
      "await jose.compactDecrypt(sealed, openingKey, algorithms)",
      `sealed.split(".").length === 3 ? { plaintext: bytes(sealed) } : await jose.compactDecrypt(sealed, openingKey, algorithms)`,
    ]],
  },
  { name: "takes the key from the handover itself", found: "BANK-H13", changes: opening(STRANGER) },
  { name: "takes an encryption key for a signature", found: "BANK-H14", changes: opening(ENCRYPTION_KEY) },
  { name: "takes the public key as a secret", found: "BANK-H15", changes: opening(PUBLIC_KEY) },
  { name: "takes a handover with RS256", found: "BANK-H16", changes: opening(OTHER_ALGORITHM) },
  {
    name: "takes a handover that is encrypted with RSA-OAEP and SHA-1",
    found: "BANK-H17",
    changes: [
      ['keyManagementAlgorithms: ["RSA-OAEP-256"]', 'keyManagementAlgorithms: ["RSA-OAEP-256", "RSA-OAEP"]'],
      [
        "compactDecrypt(sealed, openingKey, algorithms)",
        `compactDecrypt(sealed, await jose.importPKCS8(await Deno.readTextFile(\`\${folder}/\${sealedTo}.key.pem\`), String(jose.decodeProtectedHeader(sealed).alg)), algorithms)`,
      ],
    ],
  },
  {
    name: "takes a handover that lives for an hour",
    found: "BANK-H18",
    changes: [["payload.exp - payload.iat > 300", "payload.exp - payload.iat > 30_000"]],
  },
  {
    name: "takes a handover without exp",
    found: "BANK-H19",
    changes: [[REQUIRED, REQUIRED.replace('"exp", ', "")]],
  },
  {
    name: "takes a handover without jti",
    found: "BANK-H20",
    changes: [[REQUIRED, REQUIRED.replace('"jti", ', "")]],
  },
  {
    name: "takes another JWT of the platform for a handover",
    found: "BANK-H21",
    changes: [[', "ref_id", "correlation_id")', ")"]],
  },
  {
    name: "takes a JWT of any type",
    found: "BANK-H22",
    changes: [['typ: "JWT", issuer: platform.auth_url', "issuer: platform.auth_url"]],
  },
  {
    name: "opens a visit for a consent that is not its own",
    found: "BANK-H23",
    changes: [[
      "back-channel-auth/v1/${handover.ref_id}`).catch(() => undefined)",
      "back-channel-auth/v1/${handover.ref_id}`).catch((error) =>\n    /: 4\\d\\d /.test(String(error)) ? { Data: { Initiation: { InstructedAmount: {}, CreditorAccount: {} } } } : undefined)",
    ]],
  },
  {
    name: "does not compare debtor_account_present with the consent",
    found: "BANK-H24",
    changes: [[
      "if (!read || Boolean(visit.Initiation.DebtorAccount) !== isImplicit)",
      "if (!read || isImplicit === undefined)",
    ]],
  },
  {
    name: "forgets a jti when its visit ends",
    found: "BANK-H26",
    changes: [[
      "if (visits.has(path)) throw",
      "if (visits.has(path) && visits.get(path).back === undefined) throw",
    ]],
  },
  {
    name: "remembers a jti too late",
    found: "BANK-H27",
    changes: [[
      "  visits.set(path, visit);",
      "  await new Promise((done) => setTimeout(done, 500));\n  visits.set(path, visit);",
    ]],
  },
];
