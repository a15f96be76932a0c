/** HTTP dates in their three forms (RFC 9110 §5.6.7). */

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const WEEKDAYS = "Sun Mon Tue Wed Thu Fri Sat".split(" ");
const TIME = "(?<time>(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d)";
const SHORT = `(?<weekday>${WEEKDAYS.join("|")})`;
const MONTH = `(?<month>${MONTHS.join("|")})`;
const FORMS = [
  new RegExp(`^${SHORT}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} (GMT|UTC)$`), // IMF-fixdate
  new RegExp(
    `^(?<weekday>Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`,
  ), // RFC 850
  new RegExp(`^${SHORT} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`), // asctime
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
