/** Lanes and turns. */
import { FairLane, type Place } from "../../../src/base/http/fair_lane.ts";

export const PATIENT = 60_000;

/** A lane whose grants are written down in their order. */
export function openLane(places: number, { ordinaryPlaces = places, waitMs = PATIENT } = {}): {
  readonly lane: FairLane;
  readonly granted: string[];
  ask(caller: string, urgent?: boolean): Promise<Place | undefined>;
} {
  const lane = new FairLane({ places, ordinaryPlaces, waitMs });
  const granted: string[] = [];
  let number = 0;
  return {
    lane,
    granted,
    async ask(caller, urgent = false) {
      const name = `${caller}${++number}`;
      const place = await lane.enter(caller, urgent);
      if (place !== undefined) granted.push(name);
      return place;
    },
  };
}

export async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Leaves one after the other, each when it has its place. */
export async function leaveInTurn(places: readonly Promise<Place | undefined>[]): Promise<void> {
  await Promise.all(places.map((place) => place.then((granted) => granted?.leave())));
}
