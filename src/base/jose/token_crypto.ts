/** The computer's `crypto` whose signatures are made elsewhere, for libraries that make certificates and requests. */

type Bytes = Uint8Array<ArrayBuffer>;

/** @param sign signs what the library gives to `subtle.sign`, whatever key and algorithm it names */
export function cryptoWithSign(sign: (data: Bytes) => Promise<Bytes>): Crypto {
  const { subtle } = crypto;
  const replaced: Pick<SubtleCrypto, "sign" | "exportKey" | "digest"> = {
    sign: async (_algorithm, _key, data) => (await sign(new Uint8Array(bytesOf(data)))).buffer,
    exportKey: subtle.exportKey.bind(subtle) as SubtleCrypto["exportKey"],
    digest: subtle.digest.bind(subtle),
  };
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  return { subtle: replaced as SubtleCrypto, getRandomValues } as Crypto;
}

function bytesOf(data: BufferSource): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
