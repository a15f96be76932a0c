/** The storage contract on PostgreSQL. */
import { isPostgresMissing, newPostgresStore } from "support/postgres.ts";
import { testStore } from "../store_contract.ts";

if (!isPostgresMissing) testStore({ name: "PostgreSQL", open: newPostgresStore });
