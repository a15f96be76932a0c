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

-- Writes all entries if every check holds, else none. A check holds if the entry has this version or, for a null
-- version, if there is no such entry. Rows are locked in key order, so commits that check all that they write wait for
-- each other without deadlock. A repetition of a commit that has happened returns true and writes nothing.
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
  is_done boolean;
  held_keys bytea[];
  not_kept bytea[];
begin
  with held as materialized (
    select key, version from hub.entry
      where key = any (check_keys || set_keys || delete_keys) order by key for update
  )
  select bool_or(held.version is distinct from checked.version),
         coalesce(array_agg(distinct checked.key) filter (where checked.version is null), '{}'),
         (select bool_or(held.version = commit_id) from held),
         (select coalesce(array_agg(held.key), '{}') from held)
    into failed, not_kept, is_done, held_keys
    from unnest(check_keys, check_versions) as checked (key, version)
    left join held using (key);
  if is_repetition and is_done then
    return true;
  end if;
  if failed then
    return false;
  end if;

  -- The locks do not cover an entry that another commit is inserting, whether it is written here or only must not exist.
  -- An insertion waits until that commit has ended, but not for a commit that has locked the entry since, which may wait
  -- for this one. Then the caller calls again, and finds the entry. Updates and deletions come later, because an insertion
  -- waits for those too. `on conflict` would write an entry twice to the log.
  begin
    insert into hub.entry (key, value, version, expires_at)
      select key, coalesce(written.value, 'null'), commit_id, written.expires_at
        from unnest(set_keys, set_values, set_expiries) as written (key, value, expires_at)
        full join unnest(not_kept) as missing (key) using (key)
        where key <> all (held_keys)
        order by key;
  exception when unique_violation then
    raise exception using errcode = 'HB001', message = 'another commit has inserted an entry of this one';
  end;
  not_kept := array(select unnest(not_kept) except select unnest(set_keys));
  if cardinality(not_kept) > 0 then
    delete from hub.entry where key = any (not_kept);
  end if;

  if cardinality(held_keys) > 0 then
    update hub.entry
      set value = written.value, version = commit_id, expires_at = written.expires_at
      from unnest(set_keys, set_values, set_expiries) as written (key, value, expires_at)
      where entry.key = written.key and written.key = any (held_keys);
  end if;
  if cardinality(delete_keys) > 0 then
    delete from hub.entry where key = any (delete_keys);
  end if;
  return true;
end
$$;
