-- Databases and roles of a new server (docs/operations/postgresql.md). secrets/database-roles.sql sets the passwords:
--   \set hub_owner 'a long random password', and so on for each role with a login
\set ON_ERROR_STOP on
\i /run/secrets/database_roles
create role hub_owner login password :'hub_owner';
create role hub_process;
create role hub_reader;
create role hub_platform login password :'hub_platform' in role hub_process;
create role directory_process login password :'directory_process' in role hub_process;
create database hub owner hub_owner;
create database data_keys owner hub_owner;
create database directory owner hub_owner;
