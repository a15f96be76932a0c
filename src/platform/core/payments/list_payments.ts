/** Lists a TPP's payments at a bank (contract LS1). */
import type { Reader } from "../../../base/store/store.ts";
import { decide } from "../../evidence/personal_data.ts";
import type { ConsentReader } from "../consents/read_consent.ts";
import type { ListQuery } from "../../guards/lists/list_query_schema.ts";
import { type ListPage, readList, type ReadListDeps } from "../../guards/lists/read_list.ts";
import type { ReadablePayment } from "./payment.ts";
import type { PaymentStore } from "./payment_store.ts";
import { findPayment } from "./read_payment.ts";

/** Returns the payments with their current statuses, oldest first. */
export async function listPayments(
  deps: ReadListDeps & { readonly payments: Pick<PaymentStore, "find"> },
  from: Reader,
  owner: Required<ConsentReader>,
  query: ListQuery,
): Promise<ListPage<ReadablePayment>> {
  return await readList(deps, { kind: "payment", ...owner }, query, async (ids) => {
    const found = await Promise.all(ids.map((id) => findPayment(deps, from, id, owner)));
    return found.map((entry) => {
      if (entry === null) return undefined;
      return decide(entry.value, {
        present: (payment) => isAsked(payment, query) ? payment : undefined,
        erased: () => undefined,
        lost: () => undefined,
      });
    });
  });
}

function isAsked({ status, initiation }: ReadablePayment, query: ListQuery): boolean {
  return (query.status === undefined || query.status === status) &&
    (query.endToEndId === undefined || query.endToEndId === initiation.endToEndIdentification);
}
