-- Deletes the rows of the cases that began in a month, to measure it: the platform's retention leaves a proof, this does not.
--   psql -v month=2026-05-01 -f scripts/proofs/bench/month.sql
set enable_seqscan = off;
create function pg_temp.begin_of(kind text, at timestamptz) returns bytea language sql stable as $$
  select convert_to(kind, 'UTF8') || '\x00' || convert_to(
    regexp_replace(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), '^(.{8})', '\1-'), 'UTF8')
$$;
delete from hub.entry using unnest(array['audit', 'consent', 'evidence', 'payment']) as kind
  where key >= pg_temp.begin_of(kind, date :'month')
    and key < pg_temp.begin_of(kind, date :'month' + interval '1 month');
