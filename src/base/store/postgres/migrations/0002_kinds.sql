-- Divides hub.entry by kind of record. Programs know hub.entry alone, so a database without partitions serves too.
-- Rows that are kept are apart from those that soon expire: their pages fill once, and vacuum has nothing to do there.
-- What is in no other partition is short-lived or little: its pages are used again and again.
-- A kind is a range of keys: a key is the parts, each followed by 00, and 00 FF is above every key below a part.

alter table hub.entry rename to entry_before;
alter index hub.entry_pkey rename to entry_before_pkey;
alter index hub.entry_expiry rename to entry_before_expiry;

create table hub.entry (
  key bytea primary key,
  value json not null,
  version uuid not null,
  expires_at timestamptz
) partition by range (key);

create index entry_expiry on hub.entry (expires_at) where expires_at is not null;

create table hub.entry_audit partition of hub.entry
  for values from ('\x617564697400') to ('\x617564697400ff'); -- audit, audit
create table hub.entry_consent partition of hub.entry
  for values from ('\x636f6e73656e7400') to ('\x636f6e73656e7400ff'); -- consent, consent
create table hub.entry_evidence partition of hub.entry
  for values from ('\x65766964656e636500') to ('\x65766964656e63655f646f63756d656e7400ff'); -- evidence, evidence_document
create table hub.entry_listed partition of hub.entry
  for values from ('\x6c697374656400') to ('\x6c697374656400ff'); -- listed, listed
create table hub.entry_log partition of hub.entry
  for values from ('\x6c6f675f636865636b706f696e7400') to ('\x6c6f675f74696c6500ff'); -- log_checkpoint, log_tile
create table hub.entry_lookup partition of hub.entry
  for values from ('\x6c6f6f6b757000') to ('\x6c6f6f6b757000ff'); -- lookup, lookup
create table hub.entry_payment partition of hub.entry
  for values from ('\x7061796d656e7400') to ('\x7061796d656e745f6f7264657200ff'); -- payment, payment_order
create table hub.entry_trace partition of hub.entry
  for values from ('\x747261636500') to ('\x74726163655f6f6600ff'); -- trace, trace_of
create table hub.entry_other partition of hub.entry default;

-- An entry is deleted soon after it expires, so many small cleanings cost less than a few large ones. Those of traces
-- are small enough at a fiftieth of them.
alter table hub.entry_other set (
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02
);
alter table hub.entry_trace set (autovacuum_vacuum_scale_factor = 0.02);
-- An entry with its evidence is longer than 2 kB and does not become shorter: out of line it would be in the log with rows
-- and an index of their own.
alter table hub.entry_audit set (toast_tuple_target = 8160);

insert into hub.entry select * from hub.entry_before;
drop table hub.entry_before;
