/** What people read for banks, organisations and software, by their ids. */
import type { Visit } from "../../../console/visit.ts";
import { participantsSchema } from "../participant_routes.ts";

/** Names by client ids and by the codes of banks. One that is not registered any more has none. */
export type Names = ReadonlyMap<string, string>;

/** The id in the words with which histories name a party, such as `bank BANKA`. */
export function idIn(words: string): string {
  return words.slice(words.indexOf(" ") + 1);
}

/** Ids of one request. */
const IDS = 100;

/** Organisations whose names a page reads. */
const ORGANISATIONS = 5;

/** Reads the names of these ids and organisations, for who may read participants. */
export async function readNames(
  visit: Visit,
  ids: Iterable<string>,
  organisations: Iterable<string> = [],
): Promise<Names> {
  const wanted = [...new Set(ids)];
  const names = new Map<string, string>();
  if (!visit.may("GET /operations/participants")) return names;
  for (let start = 0; start < wanted.length; start += IDS) {
    const query = new URLSearchParams({ ids: wanted.slice(start, start + IDS).join(",") });
    const answer = await visit.read(`/operations/participants?${query}`, participantsSchema);
    for (const one of answer.ok ? answer.value.Data.Participant : []) {
      names.set(one.ClientId, `${one.OrganisationName} · ${one.SoftwareName}`);
      if (one.Role === "ASPSP") names.set(one.OrganisationId, one.OrganisationName);
    }
  }
  for (const id of [...new Set(organisations)].filter((one) => !names.has(one)).slice(0, ORGANISATIONS)) {
    const query = new URLSearchParams({ search: id });
    const answer = await visit.read(`/operations/participants?${query}`, participantsSchema);
    const found = answer.ok ? answer.value.Data.Participant : [];
    const own = found.find(({ OrganisationId }) => OrganisationId === id);
    if (own !== undefined) names.set(id, own.OrganisationName);
  }
  return names;
}
