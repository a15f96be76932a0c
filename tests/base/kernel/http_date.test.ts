/** HTTP dates in their three forms. */
import { assertEquals } from "@std/assert";
import { isHttpDate } from "../../../src/base/kernel/date_time.ts";

Deno.test("isHttpDate takes the three forms of RFC 9110 with their own weekday [HD2]", () => {
  const good = [
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Wednesday, 06-Nov-24 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Thu Feb 29 23:59:59 2024",
  ];
  for (const text of good) assertEquals(isHttpDate(text), true, text);
  const bad = [
    "Mon, 06 Nov 1994 08:49:37 GMT",
    "Monday, 06-Nov-94 08:49:37 GMT",
    "Mon Nov  6 08:49:37 1994",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun Nov 6 08:49:37 1994",
    "Wed Feb 29 08:49:37 2023",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:00 GMT",
    "Sun, 06 Nov 1994 08:00:60 GMT",
    "sun, 06 nov 1994 08:49:37 gmt",
    "Sun, 06 Nov 1994 08:49:37 +0000",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Tue, 31 Feb 2012 19:43:31 GMT",
    "1994-11-06T08:49:37Z",
    "today",
    "",
  ];
  for (const text of bad) assertEquals(isHttpDate(text), false, text);
});
