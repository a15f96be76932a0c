import { assertEquals } from "@std/assert";
import { formatDay, formatDuration, formatMoney, formatTime } from "../../src/pages/formats.ts";

const NBSP = "\u00a0";
const NARROW = "\u202f";
const RLM = "\u200f";

Deno.test("formatMoney writes amounts as the reader does", () => {
  assertEquals(formatMoney("en", "1250.00", "EUR"), "€1,250.00");
  assertEquals(formatMoney("en", "12.50", "USD"), "US$12.50");
  assertEquals(formatMoney("en", "1234567.80", "EUR"), "€1,234,567.80");
  assertEquals(formatMoney("es", "12.50", "EUR"), `12,50${NBSP}€`);
  assertEquals(formatMoney("es", "1999.00", "GBP"), `1999,00${NBSP}GBP`); // four digits are not grouped
  assertEquals(formatMoney("es", "50000.00", "COP"), `50.000,00${NBSP}COP`);
  assertEquals(formatMoney("fr", "1250.00", "EUR"), `1${NARROW}250,00${NBSP}€`);
  assertEquals(formatMoney("ar", "12.50", "EUR").replaceAll(RLM, ""), "12.50 يورو");
});

Deno.test("formatMoney loses no digit", () => {
  assertEquals(formatMoney("en", "9999999999999.99", "EUR"), "€9,999,999,999,999.99");
  assertEquals(formatMoney("en", "9007199254740993.01", "EUR"), "€9,007,199,254,740,993.01"); // over 2^53
  assertEquals(formatMoney("en", "12.50", "JPY"), "JP¥12.50");
  assertEquals(formatMoney("en", "0.12345", "EUR"), "€0.12345");
  assertEquals(formatMoney("en", "7", "EUR"), "€7.00");
  assertEquals(formatMoney("en", "-20.5", "GBP"), "-£20.50");
});

Deno.test("formatMoney shows what it cannot read as it is", () => {
  for (const amount of ["1e3", "NaN", "Infinity", "", "1,50", "0x10", " 1"]) {
    assertEquals(formatMoney("en", amount, "EUR"), `${amount} EUR`);
  }
  assertEquals(formatMoney("en", "1.00", "eur"), "1.00 eur");
});

Deno.test("formatDay is in UTC, formatTime in a zone that it names", () => {
  const instant = Date.UTC(2024, 2, 12, 23, 5, 59);
  assertEquals(formatDay("en", instant), "12 March 2024");
  assertEquals(formatDay("es", instant), "12 de marzo de 2024");
  assertEquals(formatDay("fr", instant), "12 mars 2024");
  assertEquals(formatDay("ar", instant), "12 مارس 2024");
  assertEquals(formatTime("en", instant, "UTC"), "23:05 UTC");
  assertEquals(formatTime("ar", instant, "UTC"), "23:05 UTC");
  assertEquals(formatTime("en", Date.UTC(2024, 0, 1), "UTC"), "00:00 UTC");
});

Deno.test("formatTime names the zone in the reader's language, summer time included", () => {
  const summer = Date.UTC(2024, 6, 1, 12);
  assertEquals(formatTime("en", summer, "Europe/Madrid"), "14:00 Central European Summer Time");
  assertEquals(formatTime("es", summer, "America/Bogota"), "07:00 hora estándar de Colombia");
  assertEquals(formatTime("fr", summer, "America/Bogota"), "07:00 heure normale de Colombie");
});

Deno.test("formatDuration rounds down and counts seconds below a minute", () => {
  assertEquals(formatDuration("en", 899_999), "14 minutes");
  assertEquals(formatDuration("en", 60_000), "1 minute");
  assertEquals(formatDuration("en", 59_999), "59 seconds");
  assertEquals(formatDuration("en", -5), "0 seconds");
  assertEquals(formatDuration("es", 720_000), "12 minutos");
  assertEquals(formatDuration("ar", 180_000), "3 دقائق");
  assertEquals(formatDuration("ar", 720_000), "12 دقيقة");
});
