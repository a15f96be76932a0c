/** A plot of values by time, drawn as SVG without a script. A table beside it must have the same values. */
import type { JSX } from "hono/jsx/jsx-runtime";

export interface PlotView {
  readonly title: string;
  /** By day, minute or the like in words, oldest first. Undefined if one has none. */
  readonly values: readonly (readonly [when: string, value: number | undefined])[];
  /** The value that fills the height, or more if a value is larger. */
  readonly least: number;
  /** Draws the value at the end of the scale. */
  readonly format: (value: number) => string;
}

const HEIGHT = 60;
const STEP = 10;
const GAP = 2;

/** Bars from the oldest value to the newest, in the direction of the language. */
export function Plot({ title, values, least, format }: PlotView): JSX.Element {
  const top = values.reduce((most, [, value = 0]) => Math.max(most, value), least);
  const [first, last] = [values[0]?.[0], values.at(-1)?.[0]];
  const width = Math.max(1, values.length) * STEP;
  return (
    <figure class="plot">
      <figcaption>
        {title} <span class="scale">0 – {format(top)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <line class="half" x1={0} x2={width} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {values.map(([when, value], place) =>
          drawBar(place, value, top, `${when}: ${value === undefined ? "–" : format(value)}`)
        )}
      </svg>
      {first === undefined || last === undefined ? null : (
        <p class="ends" aria-hidden="true">
          <span>{first}</span>
          <span>{last}</span>
        </p>
      )}
    </figure>
  );
}

/** A bar without a value has a mark at the bottom, and a small value can still be seen. Its words show on hover. */
function drawBar(place: number, value: number | undefined, top: number, words: string): JSX.Element {
  const height = value === undefined || value === 0 ? 1 : Math.max(3, value / top * HEIGHT);
  return (
    <rect
      class={value === undefined ? "none" : "value"}
      x={place * STEP + GAP / 2}
      y={HEIGHT - height}
      width={STEP - GAP}
      height={height}
    >
      <title>{words}</title>
    </rect>
  );
}
