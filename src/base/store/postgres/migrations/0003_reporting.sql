-- Roles, and the schema for analysts: real columns, which triggers on the partitions of hub.entry write in the commit of
-- the record. So they are never behind, also on a standby. The comments are the documentation (docs/storage.md).
-- A value that a trigger does not understand leaves a null: no commit may fail because of a report.

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

create schema reporting;
grant usage on schema hub to hub_process;
grant usage on schema reporting to hub_reader;
grant select, insert, update, delete on hub.entry to hub_process;
grant select on hub.migration to hub_process;
grant execute
  on function hub.commit_entries(uuid, boolean, bytea[], uuid[], bytea[], json[], timestamptz[], bytea[])
  to hub_process;

-- Part of a key, from 1.
create function reporting.part_of(key bytea, part integer) returns text language sql immutable
  return split_part(encode(key, 'escape'), '\000', part);

-- Milliseconds since the Unix epoch.
create function reporting.time_of(milliseconds text) returns timestamptz language sql immutable
  return case when milliseconds ~ '^\d{1,15}(\.\d+)?$' then to_timestamp(milliseconds::numeric / 1000) end;

create function reporting.amount_of(amount text) returns numeric language sql immutable
  return case when amount ~ '^\d{1,30}(\.\d{1,30})?$' then amount::numeric end;

create function reporting.count_of(number text) returns integer language sql immutable
  return case when number ~ '^\d{1,9}$' then number::integer else 0 end;

create table reporting.consent (
  consent_id text primary key,
  bank text,
  client_id text,
  status text,
  created_at timestamptz,
  created_on date,
  status_updated_at timestamptz,
  authorise_by timestamptz,
  amount numeric,
  currency text,
  names_debtor_account boolean
) with (fillfactor = 80);
create index consent_created_at on reporting.consent (created_at);
create index consent_created_on on reporting.consent (created_on, bank);

comment on table reporting.consent is 'Domestic payment consents.';
comment on column reporting.consent.consent_id is 'Id of the consent.';
comment on column reporting.consent.bank is 'Code of the bank.';
comment on column reporting.consent.client_id is 'Client id of the TPP.';
comment on column reporting.consent.status is 'Status as last recorded. The platform records within seconds that a consent has expired.';
comment on column reporting.consent.created_at is 'Time of creation.';
comment on column reporting.consent.created_on is 'Day of creation, UTC.';
comment on column reporting.consent.status_updated_at is 'Time of the last change of the status.';
comment on column reporting.consent.authorise_by is 'Time at which the consent expires if no customer has authorised it.';
comment on column reporting.consent.amount is 'Amount, in units of the currency.';
comment on column reporting.consent.currency is 'ISO 4217 code of the currency.';
comment on column reporting.consent.names_debtor_account is 'Whether the TPP named the account that pays.';

create table reporting.payment (
  payment_id text primary key,
  consent_id text,
  bank text,
  client_id text,
  status text,
  created_at timestamptz,
  created_on date,
  status_updated_at timestamptz,
  amount numeric,
  currency text,
  charges integer
) with (fillfactor = 80);
create index payment_created_at on reporting.payment (created_at);
create index payment_created_on on reporting.payment (created_on, bank);

comment on table reporting.payment is 'Domestic payments.';
comment on column reporting.payment.payment_id is 'Id of the payment.';
comment on column reporting.payment.consent_id is 'Id of its consent.';
comment on column reporting.payment.bank is 'Code of the bank.';
comment on column reporting.payment.client_id is 'Client id of the TPP.';
comment on column reporting.payment.status is 'Status of the payment.';
comment on column reporting.payment.created_at is 'Time of creation.';
comment on column reporting.payment.created_on is 'Day of creation, UTC.';
comment on column reporting.payment.status_updated_at is 'Time of the last change of the status, by the bank''s clock if the bank reported it.';
comment on column reporting.payment.amount is 'Amount, in units of the currency.';
comment on column reporting.payment.currency is 'ISO 4217 code of the currency.';
comment on column reporting.payment.charges is 'Number of charges that the bank reported.';

create table reporting.payment_order (
  payment_id text primary key,
  bank text,
  created_at timestamptz,
  delivery text not null,
  failures integer,
  due_at timestamptz
) with (fillfactor = 80);
-- Of the orders that have not ended, because the others are too many to search.
create index payment_order_delivery on reporting.payment_order (bank, delivery) where delivery <> 'ended';

comment on table reporting.payment_order is 'The order of each payment, and its delivery to the bank.';
comment on column reporting.payment_order.payment_id is 'Id of the payment.';
comment on column reporting.payment_order.bank is 'Code of the bank.';
comment on column reporting.payment_order.created_at is 'Time of creation.';
comment on column reporting.payment_order.delivery is '`waiting` to be pushed, `held` back, `given up` after the last retry, or `ended`: no push is outstanding.';
comment on column reporting.payment_order.failures is 'Number of failed pushes of an order whose delivery has not ended.';
comment on column reporting.payment_order.due_at is 'Time of the next push. For an order that is held or given up: since when.';

create table reporting.event (
  subject text,
  sequence integer,
  at timestamptz,
  event text,
  actor text,
  page_language text,
  page_sha256 text,
  primary key (subject, sequence)
);
create index event_at on reporting.event (at);

comment on table reporting.event is 'The history of consents, payments, clients and holds.';
comment on column reporting.event.subject is 'Id of the consent, payment, client or hold.';
comment on column reporting.event.sequence is 'Number of the event in its history, from 1.';
comment on column reporting.event.at is 'Time of the event.';
comment on column reporting.event.event is 'Area and event, such as `consent.Authorized`.';
comment on column reporting.event.actor is 'A client id, `bank` and its code, `customer`, `clock`, `platform`, or `operator` without the name.';
comment on column reporting.event.page_language is 'Language of the page on which the customer decided.';
comment on column reporting.event.page_sha256 is 'SHA-256, base64url, of the facts that the page showed.';

create view reporting.bank_day as
  select
    created_on as day,
    bank,
    currency,
    count(*) filter (where of = 'consent') as consents,
    count(*) filter (where of = 'consent' and status in ('Authorized', 'Consumed')) as authorised,
    count(*) filter (where of = 'payment') as payments,
    count(*) filter (where of = 'payment' and status = 'Rejected') as rejected,
    count(*) filter (where of = 'payment' and status ~ '^Accepted(Credit)?SettlementCompleted$') as settled,
    coalesce(sum(amount) filter (where of = 'payment' and status ~ '^Accepted(Credit)?SettlementCompleted$'), 0)
      as amount_settled
  from (
    select 'consent' as of, created_on, bank, currency, status, amount from reporting.consent
    union all
    select 'payment', created_on, bank, currency, status, amount from reporting.payment
  ) as made
  group by created_on, bank, currency;

comment on view reporting.bank_day is 'Figures by day, bank and currency. Ask for days: each is read anew.';
comment on column reporting.bank_day.day is 'Day of creation of the consents and payments, UTC.';
comment on column reporting.bank_day.bank is 'Code of the bank.';
comment on column reporting.bank_day.currency is 'ISO 4217 code of the currency.';
comment on column reporting.bank_day.consents is 'Consents that were created.';
comment on column reporting.bank_day.authorised is 'Those of them that a customer has authorised and nobody has revoked.';
comment on column reporting.bank_day.payments is 'Payments that were created.';
comment on column reporting.bank_day.rejected is 'Payments that the bank has rejected.';
comment on column reporting.bank_day.settled is 'Payments that are settled at the debtor''s or the creditor''s bank.';
comment on column reporting.bank_day.amount_settled is 'Sum of their amounts, in units of the currency.';

create function reporting.feed_consent() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    delete from reporting.consent where consent_id = reporting.part_of(old.key, 2);
    return null;
  end if;
  insert into reporting.consent as known
    select reporting.part_of(new.key, 2), bank, "clientId", status, made.at, (made.at at time zone 'UTC')::date,
        reporting.time_of("statusUpdatedAt"), reporting.time_of("authoriseBy"),
        reporting.amount_of(request #>> '{Data,Initiation,InstructedAmount,Amount}'),
        request #>> '{Data,Initiation,InstructedAmount,Currency}',
        request #>> '{Data,Initiation,DebtorAccount}' is not null
      from json_to_record(new.value) as stored (
          bank text, "clientId" text, status text, "createdAt" text, "statusUpdatedAt" text, "authoriseBy" text,
          request json),
        lateral (select reporting.time_of("createdAt") as at) as made
    on conflict (consent_id) do update
      set bank = excluded.bank, client_id = excluded.client_id, status = excluded.status,
        created_at = excluded.created_at, created_on = excluded.created_on,
        status_updated_at = excluded.status_updated_at, authorise_by = excluded.authorise_by,
        amount = excluded.amount, currency = excluded.currency,
        names_debtor_account = excluded.names_debtor_account
      where known is distinct from excluded;
  return null;
end
$$;

-- Payments, and the list of orders that is in the same partition.
create function reporting.feed_payment() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
declare
  is_order constant boolean = coalesce(new.key, old.key) >= '\x7061796d656e745f6f7264657200'; -- payment_order
begin
  if is_order and tg_op = 'DELETE' then
    delete from reporting.payment_order where payment_id = old.value #>> '{}';
  elsif is_order and json_typeof(new.value) = 'string' then
    insert into reporting.payment_order as known (payment_id, bank, created_at, delivery)
      values (new.value #>> '{}', reporting.part_of(new.key, 2),
        reporting.time_of(left(reporting.part_of(new.key, 3), 15)), 'ended')
      on conflict (payment_id) do update set bank = excluded.bank, created_at = excluded.created_at
        where (known.bank, known.created_at) is distinct from (excluded.bank, excluded.created_at);
  elsif not is_order and tg_op = 'DELETE' then
    delete from reporting.payment where payment_id = reporting.part_of(old.key, 2);
  elsif not is_order and json_typeof(new.value) = 'object' then
    insert into reporting.payment as known
      select reporting.part_of(new.key, 2), "consentId", bank, "clientId", status, made.at,
          (made.at at time zone 'UTC')::date, reporting.time_of("statusUpdatedAt"),
          reporting.amount_of(initiation #>> '{InstructedAmount,Amount}'), initiation #>> '{InstructedAmount,Currency}',
          case json_typeof(charges) when 'array' then json_array_length(charges) end
        from json_to_record(new.value) as stored (
            "consentId" text, bank text, "clientId" text, status text, "createdAt" text, "statusUpdatedAt" text,
            initiation json, charges json),
          lateral (select reporting.time_of("createdAt") as at) as made
      on conflict (payment_id) do update
        set consent_id = excluded.consent_id, bank = excluded.bank, client_id = excluded.client_id,
          status = excluded.status, created_at = excluded.created_at, created_on = excluded.created_on,
          status_updated_at = excluded.status_updated_at, amount = excluded.amount, currency = excluded.currency,
          charges = excluded.charges
        where known is distinct from excluded;
  end if;
  return null;
end
$$;

-- The outbox: what is left of an order's delivery.
create function reporting.feed_delivery() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    update reporting.payment_order set delivery = 'ended', failures = null, due_at = null
      where payment_id = reporting.part_of(old.key, 2);
    return null;
  end if;
  insert into reporting.payment_order as known (payment_id, bank, delivery, failures, due_at)
    select reporting.part_of(new.key, 2), bank,
        case state when 'dead' then 'given up' when 'held' then 'held' else 'waiting' end,
        reporting.count_of(failures), reporting.time_of(coalesce("dueAt", "heldAt", "diedAt"))
      from json_to_record(new.value) as stored (
        bank text, state text, failures text, "dueAt" text, "heldAt" text, "diedAt" text)
    on conflict (payment_id) do update
      set delivery = excluded.delivery, failures = excluded.failures, due_at = excluded.due_at
      where (known.delivery, known.failures, known.due_at)
        is distinct from (excluded.delivery, excluded.failures, excluded.due_at);
  return null;
end
$$;

create function reporting.feed_event() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op <> 'INSERT' then
    delete from reporting.event
      where subject = reporting.part_of(old.key, 2) and sequence = reporting.count_of(old.value ->> 'sequence');
  end if;
  if tg_op = 'DELETE' then
    return null;
  end if;
  insert into reporting.event
    select reporting.part_of(new.key, 2), reporting.count_of(sequence), reporting.time_of(at), event,
        case
          when actor in ('customer', 'clock', 'platform') or actor like 'SC-%' or actor like 'bank %' then actor
          else 'operator'
        end,
        page ->> 'language', page ->> 'sha256'
      from json_to_record(new.value) as stored (sequence text, at text, event text, actor text, page json)
    on conflict (subject, sequence) do nothing;
  return null;
end
$$;

revoke all on all functions in schema reporting from public;

create trigger feed_written after insert or update on hub.entry_consent
  for each row when (json_typeof(new.value) = 'object') execute function reporting.feed_consent();
create trigger feed_deleted after delete on hub.entry_consent
  for each row execute function reporting.feed_consent();
create trigger feed_written after insert or update on hub.entry_payment
  for each row execute function reporting.feed_payment();
create trigger feed_deleted after delete on hub.entry_payment
  for each row execute function reporting.feed_payment();
create trigger feed_written after insert or update on hub.entry_other
  for each row when (new.key > '\x6f7574626f7800' and new.key < '\x6f7574626f7800ff' -- outbox
    and json_typeof(new.value) = 'object') execute function reporting.feed_delivery();
create trigger feed_deleted after delete on hub.entry_other
  for each row when (old.key > '\x6f7574626f7800' and old.key < '\x6f7574626f7800ff') -- outbox
  execute function reporting.feed_delivery();
create trigger feed_written after insert or update on hub.entry_audit
  for each row when (json_typeof(new.value) = 'object') execute function reporting.feed_event();
create trigger feed_deleted after delete on hub.entry_audit
  for each row execute function reporting.feed_event();

-- What is stored already is reported too.
update hub.entry set version = version;

grant select on all tables in schema reporting to hub_reader;
