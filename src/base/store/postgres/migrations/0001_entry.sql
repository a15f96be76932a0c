-- The entries of the storage port, and the function that commits them.

create table hub.entry (
  -- Order-preserving bytes of the key's parts: UTF-8, each part followed by 00.
  key bytea primary key,
  value json not null,
  -- The id of the commit that wrote it.
  version uuid not null,
  expires_at timestamptz
);

create index entry_expiry on hub.entry (expires_at) where expires_at is not null;

-- An entry is deleted soon after it expires, so many small cleanings cost less than a few large ones.
alter table hub.entry set (
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02
);

-- Writes all entries if every check holds, else none. A check holds if the entry has this version or, for a null
-- version, if there is no such entry. Rows are locked in key order, so that commits wait for each other without
-- deadlock. A repetition of a commit that has happened returns true and writes nothing.
create function hub.commit_entries(
  commit_id uuid,
  is_repetition boolean,
  check_keys bytea[],
  check_versions uuid[],
  set_keys bytea[],
  set_values json[],
  set_expiries timestamptz[],
  delete_keys bytea[]
) returns boolean language plpgsql as $$
declare
  failed boolean;
  absent bytea[];
  is_done boolean;
  written bigint;
begin
  with held as materialized (
    select key, version from hub.entry
      where key = any (check_keys || set_keys || delete_keys) order by key for update
  )
  select bool_or(held.version is distinct from checked.version),
         array_agg(checked.key) filter (where checked.version is null),
         (select bool_or(held.version = commit_id) from held)
    into failed, absent, is_done
    from unnest(check_keys, check_versions) as checked (key, version)
    left join held using (key);
  if is_repetition and is_done then
    return true;
  end if;
  if failed then
    return false;
  end if;

  -- The locks do not cover an entry that another commit is inserting now. The insert below waits for it, and then
  -- finds it: the exception undoes this commit.
  insert into hub.entry (key, value, version, expires_at)
    select written_entry.key, written_entry.value, commit_id, written_entry.expires_at
      from unnest(set_keys, set_values, set_expiries) as written_entry (key, value, expires_at)
      order by written_entry.key
    on conflict (key) do update
      set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
      where absent is null or entry.key <> all (absent);
  get diagnostics written = row_count;
  if written < cardinality(set_keys) then
    raise exception using errcode = 'HB001', message = 'an entry exists that must not';
  end if;

  -- Entries that must not exist and are not written: inserting them waits for whoever else inserts them.
  if not absent <@ set_keys then
    absent := array(select key from unnest(absent) as missing (key) where key <> all (set_keys) order by key);
    insert into hub.entry (key, value, version) select key, 'null', commit_id from unnest(absent) as missing (key)
      on conflict (key) do nothing;
    get diagnostics written = row_count;
    if written < cardinality(absent) then
      raise exception using errcode = 'HB001', message = 'an entry exists that must not';
    end if;
    delete from hub.entry where key = any (absent);
  end if;

  if cardinality(delete_keys) > 0 then
    delete from hub.entry where key = any (delete_keys);
  end if;
  return true;
end
$$;
