/** Opens the parts that count and store the figures of days. */
import { DAY_MS } from "./figures.ts";
import { type FiguresStore, type FiguresStoreDeps, openFiguresStore } from "./figures_store.ts";
import { type FiguresRecorder, openFiguresRecorder, type RecorderDeps } from "./recorder.ts";

export interface FiguresParts {
  /** Counts what the reports by day show. */
  readonly figures: FiguresRecorder;
  readonly figuresStore: FiguresStore;
}

/** @param deps.config.reportDays how long figures are kept */
export function openFigures(
  { config, ...deps }:
    & Omit<FiguresStoreDeps & RecorderDeps, "figures" | "keepMs">
    & { readonly config: { readonly reportDays: number } },
): FiguresParts {
  const figuresStore = openFiguresStore({ ...deps, keepMs: config.reportDays * DAY_MS });
  return { figuresStore, figures: openFiguresRecorder({ ...deps, figures: figuresStore }) };
}
