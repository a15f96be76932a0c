/**
 * Parses ISO 8601 date-times of other parties: calendar, ordinal and week dates in basic or extended form, times of
 * any precision, always with an offset. Recognises HTTP dates. `wireDateTime` of `clock.ts` writes times.
 */

const DATE_TIME = /^([0-9W-]{7,10})T([0-9:.,]+)(Z|[+-][0-9:]{2,5})$/;
const CALENDAR_DATE = /^(\d{4})(-?)(\d{2})\2(\d{2})$/;
const ORDINAL_DATE = /^(\d{4})-?(\d{3})$/;
const WEEK_DATE = /^(\d{4})(-?)W(\d{2})\2(\d)$/;
const TIME = /^(\d{2})(?:(:?)(\d{2})(?:\2(\d{2}))?)?(?:[.,](\d+))?$/;
const OFFSET = /^([+-])(\d{2})(?::?(\d{2}))?$/;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns the instant in milliseconds since the Unix epoch, or undefined if the text is not a valid date-time. */
export function instantOf(text: string): number | undefined {
  const [, date = "", time = "", zone = ""] = DATE_TIME.exec(text) ?? [];
  const day = dayOf(date);
  const sinceMidnight = timeOf(time);
  const offset = offsetOf(zone);
  if (day === undefined || sinceMidnight === undefined || offset === undefined) return undefined;
  const at = day + sinceMidnight - offset;
  // A leap second is the last one of a UTC day, and counts as the first one of the next.
  const isLeap = /^\d{2}:?\d{2}:?60/.test(time);
  return isLeap && Math.floor(at / 1000) * 1000 % DAY !== 0 ? undefined : at;
}

/**
 * Returns midnight UTC of a date without a time (`2026-01-31` and its other forms), in milliseconds since the Unix
 * epoch, or undefined.
 */
export function dayOf(text: string): number | undefined {
  const calendar = CALENDAR_DATE.exec(text);
  if (calendar !== null) return calendarDay(Number(calendar[1]), Number(calendar[3]), Number(calendar[4]));
  const ordinal = ORDINAL_DATE.exec(text);
  if (ordinal !== null) return ordinalDay(Number(ordinal[1]), Number(ordinal[2]));
  const week = WEEK_DATE.exec(text);
  return week === null ? undefined : weekDay(Number(week[1]), Number(week[3]), Number(week[4]));
}

function calendarDay(year: number, month: number, dayOfMonth: number): number | undefined {
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, dayOfMonth);
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === dayOfMonth ? at.getTime() : undefined;
}

function ordinalDay(year: number, dayOfYear: number): number | undefined {
  const at = newYear(year) + (dayOfYear - 1) * DAY;
  return dayOfYear >= 1 && at < newYear(year + 1) ? at : undefined;
}

function weekDay(year: number, week: number, dayOfWeek: number): number | undefined {
  const at = firstMonday(year) + ((week - 1) * 7 + dayOfWeek - 1) * DAY;
  return week >= 1 && dayOfWeek >= 1 && dayOfWeek <= 7 && at < firstMonday(year + 1) ? at : undefined;
}

/** Monday of week 1, the week that contains 4 January (ISO 8601-1 4.2.2). */
function firstMonday(year: number): number {
  const fourth = newYear(year) + 3 * DAY;
  return fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY;
}

function newYear(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}

/**
 * Milliseconds since midnight. A fraction belongs to the smallest unit written: the `.5` of `10:30.5` is half a
 * minute.
 */
function timeOf(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, hours, , minutes, seconds, decimals] = match;
  const smallest = seconds !== undefined ? 1000 : minutes !== undefined ? MINUTE : HOUR;
  if (Number(hours) > 24 || Number(minutes ?? 0) > 59 || Number(seconds ?? 0) > 60) return undefined;
  const fraction = decimals === undefined ? 0 : Math.floor(Number(`0.${decimals}`) * smallest);
  const total = Number(hours) * HOUR + Number(minutes ?? 0) * MINUTE + Number(seconds ?? 0) * 1000 + fraction;
  if (seconds === "60" && total < DAY + 1000) return total; // a leap second
  return total <= DAY ? total : undefined; // 24:00 is the end of the day
}

function offsetOf(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (hours === undefined || Number(hours) > 23 || Number(minutes ?? 0) > 59) return undefined;
  const size = Number(hours) * HOUR + Number(minutes ?? 0) * MINUTE;
  return sign === "-" ? -size : size;
}

// HTTP dates in their three forms (RFC 9110 §5.6.7).

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const WEEKDAYS = "Sun Mon Tue Wed Thu Fri Sat".split(" ");
const HTTP_TIME = "(?<time>(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d)";
const SHORT = `(?<weekday>${WEEKDAYS.join("|")})`;
const MONTH = `(?<month>${MONTHS.join("|")})`;
const FORMS = [
  new RegExp(`^${SHORT}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${HTTP_TIME} (GMT|UTC)$`), // IMF-fixdate
  new RegExp(
    `^(?<weekday>Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${HTTP_TIME} GMT$`,
  ), // RFC 850
  new RegExp(`^${SHORT} ${MONTH} (?<day>[ \\d]\\d) ${HTTP_TIME} (?<year>\\d{4})$`), // asctime
];

/** Whether the text is an HTTP date whose day exists and has this weekday. */
export function isHttpDate(text: string): boolean {
  const found = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (found === undefined) return false;
  const { weekday = "", day = "", month = "", year = "" } = found;
  const years = year.length === 2 ? [`19${year}`, `20${year}`] : [year]; // RFC 850 names no century
  return years.some((each) => {
    const date = new Date(0);
    date.setUTCFullYear(Number(each), MONTHS.indexOf(month), Number(day));
    return date.getUTCMonth() === MONTHS.indexOf(month) && date.getUTCDate() === Number(day) &&
      WEEKDAYS[date.getUTCDay()] === weekday.slice(0, 3);
  });
}

/**
 * Finds which reminder of an end is due. Returns the smallest of `days` that is not shorter than the time left, or
 * undefined if the end is farther away than all of them, or has passed.
 *
 * @param endsAt milliseconds
 * @param now milliseconds
 */
export function daysBefore(endsAt: number, days: readonly number[], now: number): number | undefined {
  if (now >= endsAt) return undefined;
  const due = days.filter((each) => endsAt - now <= each * DAY);
  return due.length === 0 ? undefined : Math.min(...due);
}
