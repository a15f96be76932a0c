/** Searches bytes for texts: as they are, in base64url or base64 at each alignment, and in UTF-16. */

/** Returns the names of the texts that the bytes have in any of these forms. */
export function heldIn(bytes: Uint8Array, texts: Readonly<Record<string, string>>): readonly string[] {
  const haystack = new TextDecoder("latin1").decode(bytes);
  return Object.entries(texts).filter(([, text]) => formsOf(text).some((form) => haystack.includes(form)))
    .map(([name]) => name);
}

function formsOf(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  const encoded = [0, 1, 2].flatMap((shift) => {
    const all = new Uint8Array([...new Uint8Array(shift), ...bytes]).toBase64({ omitPadding: true });
    const inner = all.slice(Math.ceil(shift * 4 / 3), -2); // characters that the neighbours do not change
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [text, [...text].join("\0"), ...encoded];
}
