/** A plot of values by day, drawn as SVG without a script. A table beside it must have the same values. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatDay } from "./formats.ts";
import type { Language } from "./language.ts";

export interface PlotView {
  readonly language: Language;
  readonly title: string;
  /** By day, oldest first. Undefined if a day has none. */
  readonly values: readonly (readonly [day: string, value: number | undefined])[];
  /** The value that fills the height, or more if a value is larger. */
  readonly least: number;
  /** Draws the value at the end of the scale. */
  readonly format: (value: number) => string;
}

const HEIGHT = 60;
const STEP = 10;
const GAP = 2;

/** Bars from the oldest day to the newest, in the direction of the language. */
export function Plot({ language, title, values, least, format }: PlotView): JSX.Element {
  const top = values.reduce((most, [, value = 0]) => Math.max(most, value), least);
  const [first, last] = [values[0]?.[0], values.at(-1)?.[0]];
  const width = Math.max(1, values.length) * STEP;
  return (
    <figure class="plot">
      <figcaption>
        {title} <span class="scale">0 – {format(top)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
        {values.map(([, value], place) => <Bar place={place} value={value} top={top} />)}
      </svg>
      {first === undefined || last === undefined ? null : (
        <p class="ends" aria-hidden="true">
          <span>{formatDay(language, Date.parse(first))}</span>
          <span>{formatDay(language, Date.parse(last))}</span>
        </p>
      )}
    </figure>
  );
}

/** A day without a value has a mark at the bottom, and a small value can still be seen. */
function Bar(
  { place, value, top }: { readonly place: number; readonly value: number | undefined; readonly top: number },
): JSX.Element {
  const height = value === undefined || value === 0 ? 1 : Math.max(3, value / top * HEIGHT);
  return (
    <rect
      class={value === undefined ? "none" : "value"}
      x={place * STEP + GAP / 2}
      y={HEIGHT - height}
      width={STEP - GAP}
      height={height}
    />
  );
}
