/**
 * The functions of a PKCS#11 library (OASIS PKCS #11 v2.40 and v3) that the signer calls, for 64-bit Linux. Only
 * `C_GetFunctionList` is a symbol that every library has, so the others are called by their places in its list. Every
 * call runs beside the event loop: a token that hangs stops no other request.
 */

/** The names of the list's first functions, in the order of `pkcs11f.h`. */
const FUNCTIONS =
  `C_Initialize C_Finalize C_GetInfo C_GetFunctionList C_GetSlotList C_GetSlotInfo C_GetTokenInfo C_GetMechanismList
C_GetMechanismInfo C_InitToken C_InitPIN C_SetPIN C_OpenSession C_CloseSession C_CloseAllSessions C_GetSessionInfo
C_GetOperationState C_SetOperationState C_Login C_Logout C_CreateObject C_CopyObject C_DestroyObject C_GetObjectSize
C_GetAttributeValue C_SetAttributeValue C_FindObjectsInit C_FindObjects C_FindObjectsFinal C_EncryptInit C_Encrypt
C_EncryptUpdate C_EncryptFinal C_DecryptInit C_Decrypt C_DecryptUpdate C_DecryptFinal C_DigestInit C_Digest C_DigestUpdate
C_DigestKey C_DigestFinal C_SignInit C_Sign C_SignUpdate C_SignFinal C_SignRecoverInit C_SignRecover C_VerifyInit C_Verify
C_VerifyUpdate C_VerifyFinal C_VerifyRecoverInit C_VerifyRecover C_DigestEncryptUpdate C_DecryptDigestUpdate
C_SignEncryptUpdate C_DecryptVerifyUpdate C_GenerateKey C_GenerateKeyPair`.split(/\s+/);

/** The parameters of the functions that are called. A CK_ULONG is `n`, and a pointer to memory of this process `p`. */
const CALLS = {
  C_Initialize: "p",
  C_GetSlotList: "npp",
  C_GetTokenInfo: "np",
  C_OpenSession: "nnppp",
  C_CloseSession: "n",
  C_GetSessionInfo: "np",
  C_Login: "nnpn",
  C_GetAttributeValue: "nnpn",
  C_FindObjectsInit: "npn",
  C_FindObjects: "npnp",
  C_FindObjectsFinal: "n",
  C_EncryptInit: "npn",
  C_Encrypt: "npnpp",
  C_DecryptInit: "npn",
  C_Decrypt: "npnpp",
  C_SignInit: "npn",
  C_Sign: "npnpp",
  C_GenerateKey: "nppnp",
  C_GenerateKeyPair: "nppnpnpp",
} as const;

/** A function that is called. */
export type Call = keyof typeof CALLS;

/** CK_ULONG, memory, or NULL_PTR. */
export type Argument = bigint | Uint8Array<ArrayBuffer> | null;

/** Calls a function. The memory stays reachable until it has returned. @throws {TokenError} unless it returns CKR_OK */
export type CallToken = (name: Call, ...args: readonly Argument[]) => Promise<void>;

/** Return values with a meaning of their own here (CKR_…). */
export const CKR = {
  ARGUMENTS_BAD: 0x7n,
  DEVICE_ERROR: 0x30n,
  DEVICE_REMOVED: 0x32n,
  DATA_INVALID: 0x20n,
  DATA_LEN_RANGE: 0x21n,
  ENCRYPTED_DATA_INVALID: 0x40n,
  ENCRYPTED_DATA_LEN_RANGE: 0x41n,
  GENERAL_ERROR: 0x5n,
  FUNCTION_FAILED: 0x6n,
  KEY_HANDLE_INVALID: 0x60n,
  MECHANISM_INVALID: 0x70n,
  MECHANISM_PARAM_INVALID: 0x71n,
  OBJECT_HANDLE_INVALID: 0x82n,
  PIN_INCORRECT: 0xa0n,
  PIN_LOCKED: 0xa4n,
  SESSION_CLOSED: 0xb0n,
  SESSION_HANDLE_INVALID: 0xb3n,
  TOKEN_NOT_PRESENT: 0xe0n,
  USER_ALREADY_LOGGED_IN: 0x100n,
  USER_NOT_LOGGED_IN: 0x101n,
  CRYPTOKI_ALREADY_INITIALIZED: 0x191n,
} as const;

/** Mechanisms (CKM_…). */
export const CKM = {
  KEY_PAIR_GEN: 0x0n,
  RSA_PKCS: 0x1n,
  X_509: 0x3n,
  OAEP: 0x9n,
  PSS: 0xdn,
  SHA256: 0x250n,
  AES_KEY_GEN: 0x1080n,
  AES_GCM: 0x1087n,
} as const;

/** Attributes of objects (CKA_…). */
export const CKA = {
  CLASS: 0x0n,
  TOKEN: 0x1n,
  PRIVATE: 0x2n,
  LABEL: 0x3n,
  KEY_TYPE: 0x100n,
  ID: 0x102n,
  SENSITIVE: 0x103n,
  ENCRYPT: 0x104n,
  DECRYPT: 0x105n,
  SIGN: 0x108n,
  VERIFY: 0x10an,
  MODULUS: 0x120n,
  MODULUS_BITS: 0x121n,
  PUBLIC_EXPONENT: 0x122n,
  VALUE_LEN: 0x161n,
  EXTRACTABLE: 0x162n,
} as const;

/** Classes of objects (CKO_…). */
export const [PRIVATE_KEY, SECRET_KEY] = [3n, 4n];

/** A function of the library has failed. The message has its name and its return value. */
export class TokenError extends Error {
  override readonly name = "TokenError";

  constructor(call: string, readonly code: bigint) {
    const name = Object.entries(CKR).find(([, value]) => value === code)?.[0];
    super(`${call} returned ${name === undefined ? `0x${code.toString(16)}` : `CKR_${name}`}`);
  }

  is(...codes: readonly (keyof typeof CKR)[]): boolean {
    return codes.some((code) => CKR[code] === this.code);
  }
}

/** CKF_OS_LOCKING_OK: several threads call the library. */
const OS_LOCKING = 2n;
const POINTER_BYTES = 8;

/**
 * Loads and initializes a library.
 *
 * @param path of the shared object
 * @throws {Error} if it cannot be loaded, or is not a PKCS#11 library
 */
export async function loadPkcs11(path: string): Promise<CallToken> {
  const symbols = { C_GetFunctionList: { parameters: ["buffer"], result: "u64" } } as const;
  const library = Deno.dlopen(path, symbols);
  const list = new BigUint64Array(1);
  const code = library.symbols.C_GetFunctionList(list);
  const start = Deno.UnsafePointer.create(list[0] ?? 0n);
  if (code !== 0n || start === null) throw new TokenError("C_GetFunctionList", code);
  const view = new Deno.UnsafePointerView(start);
  const functions = new Map(
    Object.entries(CALLS).map(([name, parameters]) => [name, functionAt(view, name, parameters)]),
  );
  const inWork = new Set<readonly Argument[]>(); // keeps memory from the garbage collector while C uses it
  const call: CallToken = async (name, ...args) => {
    inWork.add(args);
    try {
      const returned = await functions.get(name)?.(args) ?? -1n;
      if (returned !== 0n) throw new TokenError(name, returned);
    } finally {
      inWork.delete(args);
    }
  };
  const initializeArgs = structure(null, null, null, null, OS_LOCKING, null);
  await call("C_Initialize", initializeArgs).catch((error) => {
    if (!(error instanceof TokenError && error.is("CRYPTOKI_ALREADY_INITIALIZED"))) throw error;
  });
  return call;
}

function functionAt(
  view: Deno.UnsafePointerView,
  name: string,
  parameters: string,
): (args: readonly Argument[]) => Promise<bigint> {
  // A CK_VERSION stands before the first function, and is padded to the size of a pointer.
  const pointer = view.getPointer(POINTER_BYTES * (1 + FUNCTIONS.indexOf(name)));
  if (pointer === null) throw new Error(`the library has no ${name}`);
  const definition = {
    parameters: [...parameters].map((kind) => kind === "n" ? "u64" as const : "buffer" as const),
    result: "u64",
    nonblocking: true,
  } as const;
  const callable = new Deno.UnsafeFnPointer(pointer as Deno.PointerObject<typeof definition>, definition);
  return (args) => callable.call(...args as readonly (bigint & BufferSource)[]) as Promise<bigint>;
}

/** What a structure points to is reachable as long as the structure is. */
const pointedTo = new WeakMap<Uint8Array<ArrayBuffer>, readonly Argument[]>();

/** Memory with CK_ULONGs and pointers, such as a mechanism, its parameters or a template. */
export function structure(...members: readonly Argument[]): Uint8Array<ArrayBuffer> {
  const values = members.map((member) =>
    typeof member === "bigint" ? member : Deno.UnsafePointer.value(member && Deno.UnsafePointer.of(member))
  );
  const memory = new Uint8Array(new BigUint64Array(values).buffer);
  pointedTo.set(memory, members);
  return memory;
}

/** Returns the CK_ULONG at an index of memory. */
export function numberAt(memory: Uint8Array<ArrayBuffer>, index = 0): bigint {
  return new DataView(memory.buffer, memory.byteOffset).getBigUint64(index * 8, true);
}
