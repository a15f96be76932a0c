/** Variables of the configuration: whole numbers, ports, and lists of known names. */
import { assertEquals } from "@std/assert";
import type { z } from "zod";
import {
  namesOf,
  namesOrNone,
  pairFaults,
  portNumber,
  wholeNumber,
} from "../../../src/base/values/variables.ts";

/** What a variable is read as, or what to set it to. */
function read(variable: z.ZodType<unknown, string>, text: string): unknown {
  const result = variable.safeParse(text);
  return result.success ? result.data : result.error.issues.map(({ message }) => message);
}

Deno.test("a whole number is taken at both bounds and refused beside them and in other spellings", () => {
  const number = wholeNumber(2, 40);
  assertEquals([read(number, "2"), read(number, "40"), read(wholeNumber(0, 9), "0")], [2, 40, 0]);
  for (const text of ["1", "41", "", "02", "2.0", "-2", "2 ", "0x2", "two", "1000000"]) {
    assertEquals(read(number, text), ["set it to a whole number from 2 to 40"], text);
  }
});

Deno.test("a port is 1 to 65535", () => {
  assertEquals([read(portNumber, "1"), read(portNumber, "65535")], [1, 65_535]);
  for (const text of ["0", "65536", "080", "", "x"]) {
    assertEquals(read(portNumber, text), ["set it to a port number"], text);
  }
});

Deno.test("a list takes each known name once, in the order given, and refuses an unknown one", () => {
  const names = namesOf("acts", ["block", "pay", "erase"]);
  assertEquals(read(names, "pay, block,,pay ,"), ["pay", "block"]);
  assertEquals(read(names, "pay,fly"), ["set it to acts, comma separated: block, pay, erase"]);
  assertEquals(read(names, "none"), ["set it to acts, comma separated: block, pay, erase"]);
});

Deno.test("a list with a default is empty by the word none alone", () => {
  const names = namesOrNone("acts", ["block", "pay"]);
  assertEquals([read(names, " none "), read(names, "block")], [[], ["block"]]);
  assertEquals(read(names, "none,pay"), ["set it to none, or to acts, comma separated: block, pay"]);
});

Deno.test("a pair's first name needs its second", () => {
  const pairs = [["block", "unblock"], ["pay", "stop"]] as const;
  const faults = (...names: ("block" | "unblock" | "pay" | "stop")[]): number =>
    pairFaults("ACTS", names, pairs).length;
  assertEquals([faults(), faults("unblock"), faults("block", "unblock")], [0, 0, 0]);
  assertEquals([faults("block"), faults("block", "pay"), faults("block", "stop")], [1, 2, 1]);
});
