-- Roles, and views for analysts. A view is a range of keys of hub.entry; a key is the parts, each followed by 00, and
-- 00 FF is above every key below the parts before. The comments are the documentation (docs/storage.md).
-- A security barrier keeps a reader's own functions from seeing rows that the view does not have.

-- The roles belong to the whole server. The operator may have made them before, if the owner of the schema may not.
do $$
begin
  if not exists (select from pg_roles where rolname = 'hub_process') then
    create role hub_process nologin;
  end if;
  if not exists (select from pg_roles where rolname = 'hub_reader') then
    create role hub_reader nologin;
  end if;
exception when duplicate_object or unique_violation then
  null; -- the migration of another database of the server was first
end
$$;

revoke all on function hub.commit_entries(uuid, boolean, bytea[], uuid[], bytea[], json[], timestamptz[], bytea[])
  from public;

grant usage on schema hub to hub_process, hub_reader;
grant select, insert, update, delete on hub.entry to hub_process;
grant select on hub.migration to hub_process;
grant execute
  on function hub.commit_entries(uuid, boolean, bytea[], uuid[], bytea[], json[], timestamptz[], bytea[])
  to hub_process;

create view hub.consent with (security_barrier = true) as
  select
    value ->> 'id' as consent_id,
    value ->> 'bank' as bank,
    value ->> 'clientId' as client_id,
    value ->> 'status' as status,
    to_timestamp((value ->> 'createdAt')::bigint / 1000.0) as created_at,
    to_timestamp((value ->> 'statusUpdatedAt')::bigint / 1000.0) as status_updated_at,
    to_timestamp((value ->> 'authoriseBy')::bigint / 1000.0) as authorise_by,
    (value #>> '{request,Data,Initiation,InstructedAmount,Amount}')::numeric as amount,
    value #>> '{request,Data,Initiation,InstructedAmount,Currency}' as currency,
    value #>> '{request,Data,Initiation,DebtorAccount}' is not null as names_debtor_account
  from hub.entry
  where key > '\x636f6e73656e7400' and key < '\x636f6e73656e7400ff'; -- consent

comment on view hub.consent is 'Domestic payment consents.';
comment on column hub.consent.consent_id is 'Id of the consent.';
comment on column hub.consent.bank is 'Code of the bank.';
comment on column hub.consent.client_id is 'Client id of the TPP.';
comment on column hub.consent.status is 'Status as last recorded. The platform records within seconds that a consent has expired.';
comment on column hub.consent.created_at is 'Time of creation.';
comment on column hub.consent.status_updated_at is 'Time of the last change of the status.';
comment on column hub.consent.authorise_by is 'Time at which the consent expires if no customer has authorised it.';
comment on column hub.consent.amount is 'Amount, in units of the currency.';
comment on column hub.consent.currency is 'ISO 4217 code of the currency.';
comment on column hub.consent.names_debtor_account is 'Whether the TPP named the account that pays.';

create view hub.payment with (security_barrier = true) as
  select
    value ->> 'id' as payment_id,
    value ->> 'consentId' as consent_id,
    value ->> 'bank' as bank,
    value ->> 'clientId' as client_id,
    value ->> 'status' as status,
    to_timestamp((value ->> 'createdAt')::bigint / 1000.0) as created_at,
    to_timestamp((value ->> 'statusUpdatedAt')::bigint / 1000.0) as status_updated_at,
    (value #>> '{initiation,InstructedAmount,Amount}')::numeric as amount,
    value #>> '{initiation,InstructedAmount,Currency}' as currency,
    json_array_length(value -> 'charges') as charges
  from hub.entry
  where key > '\x7061796d656e7400' and key < '\x7061796d656e7400ff'; -- payment

comment on view hub.payment is 'Domestic payments.';
comment on column hub.payment.payment_id is 'Id of the payment.';
comment on column hub.payment.consent_id is 'Id of its consent.';
comment on column hub.payment.bank is 'Code of the bank.';
comment on column hub.payment.client_id is 'Client id of the TPP.';
comment on column hub.payment.status is 'Status of the payment.';
comment on column hub.payment.created_at is 'Time of creation.';
comment on column hub.payment.status_updated_at is 'Time of the last change of the status, by the bank''s clock if the bank reported it.';
comment on column hub.payment.amount is 'Amount, in units of the currency.';
comment on column hub.payment.currency is 'ISO 4217 code of the currency.';
comment on column hub.payment.charges is 'Number of charges that the bank reported.';

create view hub.payment_order with (security_barrier = true) as
  select
    made.value #>> '{}' as payment_id,
    split_part(encode(made.key, 'escape'), '\000', 2) as bank,
    to_timestamp(left(split_part(encode(made.key, 'escape'), '\000', 3), 15)::bigint / 1000.0) as created_at,
    case
      when waiting.value is null then 'ended'
      when (waiting.value ->> 'dead')::boolean then 'given up'
      when waiting.value ->> 'held' is not null then 'held'
      else 'waiting'
    end as delivery,
    (waiting.value ->> 'failures')::integer as failures,
    to_timestamp((waiting.value ->> 'dueAt')::bigint / 1000.0) as due_at
  from hub.entry as made
  left join hub.entry as waiting
    on waiting.key = '\x6f7574626f7800' || convert_to(made.value #>> '{}', 'UTF8') || '\x00' -- outbox
  where made.key > '\x7061796d656e745f6f7264657200' and made.key < '\x7061796d656e745f6f7264657200ff'; -- payment_order

comment on view hub.payment_order is 'The order of each payment, and its delivery to the bank.';
comment on column hub.payment_order.payment_id is 'Id of the payment.';
comment on column hub.payment_order.bank is 'Code of the bank.';
comment on column hub.payment_order.created_at is 'Time of creation.';
comment on column hub.payment_order.delivery is '`waiting` to be pushed, `held` back, `given up` after the last retry, or `ended`: no push is outstanding.';
comment on column hub.payment_order.failures is 'Number of failed pushes of an order whose delivery has not ended.';
comment on column hub.payment_order.due_at is 'Time of the next push. For an order that is held or given up: since when.';

create view hub.audit with (security_barrier = true) as
  select
    split_part(encode(key, 'escape'), '\000', 2) as subject,
    to_timestamp((value ->> 'at')::bigint / 1000.0) as at,
    value ->> 'event' as event,
    case
      when value ->> 'actor' in ('customer', 'clock', 'platform') then value ->> 'actor'
      when value ->> 'actor' like 'SC-%' or value ->> 'actor' like 'bank %' then value ->> 'actor'
      else 'operator'
    end as actor,
    value #>> '{page,language}' as page_language,
    value #>> '{page,sha256}' as page_sha256
  from hub.entry
  where key > '\x617564697400' and key < '\x617564697400ff'; -- audit

comment on view hub.audit is 'The history of consents, payments, clients and holds.';
comment on column hub.audit.subject is 'Id of the consent, payment, client or hold.';
comment on column hub.audit.at is 'Time of the event.';
comment on column hub.audit.event is 'Area and event, such as `consent.Authorized`.';
comment on column hub.audit.actor is 'A client id, `bank` and its code, `customer`, `clock`, `platform`, or `operator` without the name.';
comment on column hub.audit.page_language is 'Language of the page on which the customer decided.';
comment on column hub.audit.page_sha256 is 'SHA-256, base64url, of the facts that the page showed.';

grant select on hub.consent, hub.payment, hub.payment_order, hub.audit to hub_reader;
