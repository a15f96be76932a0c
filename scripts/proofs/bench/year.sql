-- Fills hub.entry with what payments leave behind, 19 rows each of the sizes of real ones, evenly over the year until now:
--   psql -v payments=100000 -f scripts/proofs/bench/year.sql

-- Random text, which no compression shortens much, as what is sealed.
set jit = off;

create function pg_temp.filler(kilobits integer) returns text language sql volatile as $$
  select string_agg(encode(sha512((random()::text || part)::bytea), 'hex'), '') from generate_series(1, kilobits) as part
$$;

with made as (
  select n, ms, md5('c' || n) as random,
      regexp_replace(lpad(to_hex(ms), 12, '0'), '^(.{8})', '\1-') || '-' as begin,
      case n % 2 when 0 then 'BANKA' else 'BANKB' end as bank,
      'SC-00000000-0000-4000-8000-' || lpad((n % 40)::text, 12, '0') as client,
      lpad(ms::text, 15, '0') as place,
      json_build_object('InstructedAmount', json_build_object('Amount', '1.50', 'Currency', 'EUR')) as initiation
    from generate_series(1, :payments) as n,
      lateral (select ((extract(epoch from now()) - n * 31536000.0 / :payments) * 1000)::bigint as ms) as at
), ids as (
  select *, begin || '7' || substr(random, 1, 3) || '-8' || substr(random, 4, 3) || '-' || substr(random, 7, 12) as consent,
      begin || '8' || substr(random, 2, 3) || '-8' || substr(random, 5, 3) || '-' || substr(random, 8, 12) as payment
    from made
), rows as (
  select ids.*, part.*
    from ids, lateral (
      select 'consent ' || consent as parts, json_build_object('id', consent, 'bank', bank, 'clientId', client,
          'status', 'Consumed', 'createdAt', ms, 'statusUpdatedAt', ms, 'authoriseBy', ms + 3600000,
          'request', json_build_object('Data', json_build_object('Initiation', initiation)), 'sealed', pg_temp.filler(4))
          as value, null::timestamptz as expires_at
      union all
      select 'payment ' || payment, json_build_object('id', payment, 'consentId', consent, 'bank', bank, 'clientId', client,
          'status', 'AcceptedSettlementCompleted', 'createdAt', ms, 'statusUpdatedAt', ms, 'charges', json_build_array(),
          'initiation', initiation, 'sealed', pg_temp.filler(4)), null
      union all
      select 'payment_order ' || bank || ' ' || place || '-' || payment, to_json(payment), null
      union all
      select 'listed ' || kind || ' ' || bank || ' ' || client || ' ' || place || ' ' || consent,
          json_build_object('amount', '1.50'), null
        from unnest(array['consent', 'payment']) as kind
      union all
      select 'lookup ' || md5(random || kind) || md5(kind || random) || ' ' || client || ' ' || bank || ' ' || place || ' ' || consent,
          json_build_object(), now() + interval '400 days' - n * interval '1 second' * 31536000 / :payments
        from unnest(array['key', 'end']) as kind
      union all
      select 'audit ' || case when part < 6 then consent else payment end || ' ' || place || ' ' || part,
          json_build_object('at', ms, 'event', 'consent.Authorized', 'actor', client, 'sequence', part, 'evidence', pg_temp.filler(8 + part)),
          null
        from generate_series(1, 11) as part
      union all
      select 'evidence ' || consent || '_1 1', json_build_object('bytes', pg_temp.filler(2)), null
    ) as part
)
insert into hub.entry (key, value, version, expires_at)
  select decode(replace(encode(convert_to(parts || ' ', 'UTF8'), 'hex'), '20', '00'), 'hex'), value, gen_random_uuid(),
      expires_at
    from rows;
