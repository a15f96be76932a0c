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
  absent bytea[];
  is_done boolean;
  inserted bigint;
begin
  with held as materialized (
    select key, version from hub.entry
      where key = any (check_keys || set_keys || delete_keys) order by key for update
  )
  select bool_or(held.version is distinct from checked.version),
         coalesce(array_agg(distinct checked.key) filter (where checked.version is null), '{}'),
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

  -- Entries that must not exist, whether they are written or only checked. The locks do not cover an entry that another
  -- commit is inserting. `do nothing` waits until that commit has ended, but not for a commit that has locked the entry
  -- since, which may wait for this one. Updates and deletions come later, because `do nothing` waits for those too. The
  -- exception undoes this commit.
  if cardinality(absent) > 0 then
    insert into hub.entry (key, value, version, expires_at)
      select missing.key, coalesce(written.value, 'null'), commit_id, written.expires_at
        from unnest(absent) as missing (key)
        left join unnest(set_keys, set_values, set_expiries) as written (key, value, expires_at) using (key)
        order by missing.key
      on conflict (key) do nothing;
    get diagnostics inserted = row_count;
    if inserted < cardinality(absent) then
      raise exception using errcode = 'HB001', message = 'an entry exists that must not';
    end if;
    if not absent <@ set_keys then
      delete from hub.entry where key = any (absent) and key <> all (set_keys);
    end if;
  end if;

  insert into hub.entry (key, value, version, expires_at)
    select written.key, written.value, commit_id, written.expires_at
      from unnest(set_keys, set_values, set_expiries) as written (key, value, expires_at)
      where written.key <> all (absent)
      order by written.key
    on conflict (key) do update
      set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at;

  if cardinality(delete_keys) > 0 then
    delete from hub.entry where key = any (delete_keys);
  end if;
  return true;
end
$$;
