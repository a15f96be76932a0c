/** The typefaces of pages, both under the SIL Open Font License 1.1: Inter, and Noto Sans Arabic for Arabic. */
import latin from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "bytes" };
import latinMore from "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2" with {
  type: "bytes",
};
import inter from "@fontsource-variable/inter/package.json" with { type: "json" };
import interRanges from "@fontsource-variable/inter/unicode.json" with { type: "json" };
import arabic from "@fontsource-variable/noto-sans-arabic/files/noto-sans-arabic-arabic-wght-normal.woff2" with {
  type: "bytes",
};
import noto from "@fontsource-variable/noto-sans-arabic/package.json" with { type: "json" };
import notoRanges from "@fontsource-variable/noto-sans-arabic/unicode.json" with { type: "json" };
import type { Language } from "./language.ts";

/** A file that pages load for the characters in its range. */
interface Font {
  readonly family: string;
  /** Relative to the style sheet. Its name changes with its content. */
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As in `unicode-range`. */
  readonly range: string;
}

const LATIN: Font = {
  family: "Inter",
  path: `fonts/inter-${inter.version}-latin.woff2`,
  bytes: latin,
  range: interRanges.latin,
};
const ARABIC: Font = {
  family: "Noto Sans Arabic",
  path: `fonts/noto-sans-arabic-${noto.version}.woff2`,
  bytes: arabic,
  range: notoRanges.arabic,
};

const FONTS: readonly Font[] = [
  LATIN,
  {
    ...LATIN,
    path: `fonts/inter-${inter.version}-latin-ext.woff2`,
    bytes: latinMore,
    range: interRanges["latin-ext"],
  },
  ARABIC,
];
export const FONT_TYPE = "font/woff2";
/** A file never changes. */
export const FONT_CACHE = "public, max-age=31536000, immutable";

/** The file that a page of the language needs first, beside its style sheet. */
export function firstFont(language: Language, stylesheet: string): string {
  return besides(stylesheet, language === "ar" ? ARABIC : LATIN);
}

/** The files beside a style sheet: their paths and bytes. */
export function fontFiles(stylesheet: string): readonly (readonly [path: string, bytes: Font["bytes"]])[] {
  return FONTS.map((font) => [besides(stylesheet, font), font.bytes]);
}

function besides(stylesheet: string, { path }: Font): string {
  return stylesheet.slice(0, stylesheet.lastIndexOf("/") + 1) + path;
}

/** `text/css`. Until Inter is there, a typeface of the system stands in with the same widths, so that no line moves. */
export const FONT_FACES = [
  ...FONTS.map(({ family, path, range }) =>
    `@font-face{font-family:"${family}";font-weight:100 900;font-display:swap;` +
    `src:url("${path}") format("woff2");unicode-range:${range}}`
  ),
  `@font-face{font-family:"Inter stand-in";src:local("Arial"),local("Liberation Sans");` +
  `size-adjust:107.4%;ascent-override:90.2%;descent-override:22.5%;line-gap-override:0%}`,
].join("\n");
