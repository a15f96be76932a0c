import { assertEquals } from "@std/assert";
import { type Page, type Paging, piecesBelow, readPage, type Row } from "../../../src/base/store/page.ts";

type Read = (after: number | undefined, limit: number) => Promise<readonly Row<number, number>[]>;

/** A list of the numbers from 1. */
function listTo(length: number, row: (place: number) => Partial<Row<number, number>> = () => ({})): Read {
  return (after = 0, limit) =>
    Promise.resolve(
      Array.from({ length: Math.max(0, Math.min(limit, length - after)) }, (_, index) => {
        const place = after + index + 1;
        return { place, shown: place, ...row(place) };
      }),
    );
}

async function allPages(paging: Omit<Paging<number>, "after">, read: Read): Promise<Page<number, number>[]> {
  const pages: Page<number, number>[] = [];
  do {
    pages.push(await readPage({ ...paging, after: pages.at(-1)?.next }, read));
  } while (pages.at(-1)?.next !== undefined && pages.length < 20);
  return pages;
}

Deno.test("a list of any length is read to its end, each entry once, whatever the page does not show", async () => {
  for (let length = 0; length <= 13; length++) {
    for (const dropped of [[], [1], [4], [5], [4, 8, 12], [1, 2, 3, 4], [5, 6, 7, 8], [13]]) {
      for (const more of [{}, { reads: 3 }, { reads: 2, perRead: 3 }, { reads: 2, perRead: 7 }]) {
        const read = listTo(length, (place) => dropped.includes(place) ? { shown: undefined } : {});
        const pages = await allPages({ limit: 4, ...more }, read);
        const wanted = Array.from({ length }, (_, index) => index + 1).filter((n) => !dropped.includes(n));
        assertEquals(pages.flatMap(({ found }) => found), wanted, JSON.stringify({ length, dropped, more }));
        assertEquals(pages.every(({ found }) => found.length <= 4), true);
      }
    }
  }
});

Deno.test("a full read of which the page shows nothing is not the end", async () => {
  const read = listTo(9, (place) => place <= 4 ? { shown: undefined } : {});
  assertEquals(await readPage({ after: undefined, limit: 4 }, read), { found: [], next: 4 });
  assertEquals(await readPage({ after: undefined, limit: 4, reads: 2 }, read), {
    found: [5, 6, 7, 8],
    next: 8,
  });
});

Deno.test("the next page begins before the first entry that may be overtaken", async () => {
  const young = (from: number) => listTo(9, (place) => ({ mayBeOvertaken: place >= from }));
  const paging = { limit: 4, settled: 0 };
  assertEquals(await readPage({ ...paging, after: undefined }, young(3)), { found: [1, 2, 3, 4], next: 2 });
  assertEquals(await readPage({ ...paging, after: undefined }, young(1)), { found: [1, 2, 3, 4], next: 0 });
  assertEquals(await readPage({ ...paging, after: 2 }, young(3)), { found: [3, 4, 5, 6], next: 2 });
  assertEquals(await readPage({ ...paging, after: 5 }, young(3)), { found: [6, 7, 8, 9], next: 5 });
  assertEquals(await readPage({ ...paging, after: 6 }, young(3)), { found: [7, 8, 9], next: undefined });
});

Deno.test("every entry below a prefix is read once, in pieces, and no more than the most", async () => {
  const entries = Array.from(
    { length: 7 },
    (_, at) => ({ key: ["list", String(at)], value: at, version: "" }),
  );
  const list = ({ after, limit }: { readonly after?: readonly string[]; readonly limit: number }) => {
    const from = after === undefined ? 0 : Number(after[1]) + 1;
    return Promise.resolve(entries.slice(from, from + limit));
  };
  const read = async (size: number, most?: number): Promise<readonly (readonly unknown[])[]> => {
    const pieces = await Array.fromAsync(piecesBelow({ list }, ["list"], size, most));
    return pieces.map((piece) => piece.map(({ value }) => value));
  };
  assertEquals(await read(3), [[0, 1, 2], [3, 4, 5], [6]]);
  assertEquals(await read(7), [[0, 1, 2, 3, 4, 5, 6]]);
  assertEquals(await read(3, 6), [[0, 1, 2], [3, 4, 5]]);
  assertEquals(await read(8, 6), [[0, 1, 2, 3, 4, 5, 6]]);
});
