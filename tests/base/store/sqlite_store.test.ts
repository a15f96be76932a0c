/** The storage contract on `node:sqlite`, in memory and in a file. */
import { openSqliteStore } from "../../../src/base/store/sqlite_store.ts";
import { testFiles } from "./file_contract.ts";
import { testStore } from "./store_contract.ts";

testStore({ name: "sqlite in memory:", open: () => openSqliteStore(":memory:") });
testFiles({ name: "sqlite", engine: "sqlite", open: openSqliteStore });
