/** ISO 8601 in every form, with an offset. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { dayOf, instantOf } from "../../../src/base/kernel/date_time.ts";

const NOON = Date.UTC(2026, 0, 31, 12);

Deno.test("instantOf reads every form of one instant [CON-19]", () => {
  const forms = [
    "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00.000Z",
    "2026-01-31T12:00:00,000000000000Z",
    "2026-01-31T12:00Z",
    "2026-01-31T12Z",
    "2026-01-31T12:00:00+00:00",
    "2026-01-31T12:00:00-00:00",
    "2026-01-31T13:00:00+01:00",
    "2026-01-31T13:00:00+0100",
    "2026-01-31T13:00:00+01",
    "2026-01-31T07:00-05:00",
    "2026-02-01T01:45:00+13:45",
    "20260131T120000Z",
    "20260131T1200Z",
    "20260131T130000.0+0100",
    "2026-031T12:00:00Z",
    "2026031T120000Z",
    "2026-W05-6T12:00:00Z",
    "2026W056T1200Z",
  ];
  for (const form of forms) assertEquals(instantOf(form), NOON, form);
});

Deno.test("instantOf gives a fraction to the smallest unit written [CON-19]", () => {
  assertEquals(instantOf("2026-01-31T12:00:00.25Z"), NOON + 250);
  assertEquals(instantOf("2026-01-31T12:00.5Z"), NOON + 30_000);
  assertEquals(instantOf("2026-01-31T12,5Z"), NOON + 1_800_000);
  assertEquals(instantOf("2026-031T12:00:00,5+00"), NOON + 500);
  assertEquals(instantOf("2026-01-31T24:00:00Z"), Date.UTC(2026, 1, 1));
});

Deno.test("instantOf knows leap years and long years [CON-19]", () => {
  assertEquals(instantOf("2028-02-29T00:00:00Z"), Date.UTC(2028, 1, 29));
  assertEquals(instantOf("2028-366T00:00:00Z"), Date.UTC(2028, 11, 31));
  assertEquals(instantOf("2026-W53-7T00:00:00Z"), Date.UTC(2027, 0, 3));
  assertEquals(instantOf("2020-W01-1T00:00:00Z"), Date.UTC(2019, 11, 30));
  assertEquals(instantOf("2026-W01-1T00:00:00Z"), Date.UTC(2025, 11, 29));
});

Deno.test("instantOf rejects what names no instant [CON-19]", () => {
  const none = [
    "",
    "tomorrow",
    "2026-01-31",
    "2026-01-31T12:00:00", // no offset
    "2026-01-31 12:00:00Z",
    "2026-01-31t12:00:00z",
    "2026-02-29T12:00:00Z",
    "2026-13-01T12:00:00Z",
    "2026-00-10T12:00:00Z",
    "2026-01-00T12:00:00Z",
    "2026-04-31T12:00:00Z",
    "2026-000T12:00:00Z",
    "2026-366T12:00:00Z",
    "2027-W53-1T12:00:00Z",
    "2026-W00-1T12:00:00Z",
    "2026-W05-8T12:00:00Z",
    "2026-01-31T25:00:00Z",
    "2026-01-31T24:00:01Z",
    "2026-01-31T12:60:00Z",
    "2026-01-31T12:00:60Z",
    "2026-01-31T23:59:61Z",
    "2026-01-31T23:59:60+01:00",
    "2026-01-31T12:00:00.Z",
    "2026-01-31T1:00:00Z",
    "2026-01-31T12:00:00+24:00",
    "2026-01-31T12:00:00+01:60",
    "2026-01-31T12:00:00+1",
    "2026-01-31T12:00:00Z ",
    "2026-01-31T12:00:00Z[Europe/Berlin]",
    "2026-0131T12:00:00Z",
    "26-01-31T12:00:00Z",
    "+002026-01-31T12:00:00Z",
    "1769860800",
  ];
  for (const text of none) assertEquals(instantOf(text), undefined, text);
});

Deno.test("dayOf reads a bare date [D3]", () => {
  for (const form of ["2026-01-31", "20260131", "2026-031", "2026-W05-6"]) {
    assertEquals(dayOf(form), Date.UTC(2026, 0, 31), form);
  }
  for (const text of ["2026-02-30", "2026-01", "2026", "31.01.2026", ""]) {
    assertEquals(dayOf(text), undefined, text);
  }
});

Deno.test("instantOf reads back what Date writes", () => {
  const time = fc.date({
    min: new Date("0100-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59Z"),
    noInvalidDate: true,
  });
  fc.assert(fc.property(time, (date) => assertEquals(instantOf(date.toISOString()), date.getTime())));
});

Deno.test("instantOf never throws", () => {
  const text = fc.stringMatching(/^[0-9TWZ:.,+-]{0,30}$/);
  fc.assert(fc.property(fc.oneof(text, fc.string()), (value) => {
    const instant = instantOf(value);
    assertEquals(instant === undefined || Number.isFinite(instant), true);
  }));
});

Deno.test("instantOf counts the leap second of a UTC day as the first second of the next day [CF25]", () => {
  const next = Date.UTC(2017, 0, 1);
  for (const text of ["2016-12-31T23:59:60Z", "20161231T235960Z", "2017-01-01T00:59:60+01:00"]) {
    assertEquals(instantOf(text), next, text);
  }
  assertEquals(instantOf("2016-12-31T23:59:60.5Z"), next + 500);
});
