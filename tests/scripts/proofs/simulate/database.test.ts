/** The simulation's store keeps the contract that the real ones keep. */
import { directStore, openDatabase } from "../../../../scripts/proofs/simulate/database.ts";
import { testStore } from "../../../base/store/store_contract.ts";

testStore({ name: "the simulation's store", open: () => Promise.resolve(directStore(openDatabase())) });
