/** Makes `docs/storage.md` from the declarations of the records. */
import { baseRecords } from "../../../src/base/store/base_records.ts";
import type { StoredRecord } from "../../../src/base/store/record.ts";
import { MIGRATIONS } from "../../../src/base/store/postgres/schema.ts";
import { directoryRecords } from "../../../src/directory/process/records.ts";
import { dataKeyRecords } from "../../../src/platform/evidence/data_keys/data_key_records.ts";
import { platformRecords } from "../../../src/platform/process/records.ts";

type Documented = Pick<
  StoredRecord<unknown>,
  "name" | "keyParts" | "what" | "version" | "lifetime" | "personalData" | "retention" | "restore"
>;

const INTRODUCTION = `# Stored records

Generated from the declarations in the code by \`deno task storage\`. Do not edit it.

- A value is JSON of at most 65,536 characters without NUL. Bytes are base64url.
- A key begins with the record's name. Secrets and long ids of other parties are stored as SHA-256 hashes.
- An object has the version of its record in the member \`v\`. Objects without it have version 1. A text or a
  number has no version.
- A program reads the version of its own declaration, older ones through an upgrade, and the next one. It keeps
  members that it does not know, also when it changes the record. It rejects later versions.
- Every value is checked against its schema when it is read and when it is written.

Classes of personal data:

| Class        | Content                                                                                       |
| ------------ | --------------------------------------------------------------------------------------------- |
| none         | No person.                                                                                    |
| participant  | An organisation of the directory, or its staff in a contact or a history.                      |
| pseudonymous | Ids of consents, payments or sessions. They lead to a customer only through other records.     |
| customer     | A bank's customer: accounts, amounts, or an id of the customer.                                |

Classes of retention ([EN13](contract/evidence.md#en13)):

| Class | Kept | Variable |
| --- | --- | --- |
| protocol | Until its work is done or its time has passed, as its lifetime says. | \`PLATFORM_EVENT_DAYS\`, \`PLATFORM_REPORT_DAYS\` |
| traces | A few days. | \`PLATFORM_TRACE_DAYS\` |
| evidence | Until the case is erased: by the clock, or by an operator after the legal retention period. Of a consent that was never authorised: some days. | \`PLATFORM_ERASE_CASES_DAYS\`, \`PLATFORM_KEEP_CASES_DAYS\`, \`PLATFORM_KEEP_UNAUTHORISED_DAYS\` |
| audit | Until the history of the case is deleted. | \`PLATFORM_DELETE_HISTORIES_DAYS\` |
| register | As long as the database. | – |
| proof | As long as the database. It has hashes and signatures, and no personal data. | – |
| system | As long as the database. | – |

What a restore of an older copy does to a record ([Backups](operations/backup.md)):

| Restore | Meaning |
| --- | --- |
| kept | It stays as the copy has it. |
| deleted | Nobody may use what the copy has, because it may have been used or decided since. |
| ended | Its time ends with the restore. |
| voided | What could still be used is void, with an entry in its history. |
| held | It waits until it has been compared with the bank. |
| follows | It changes with the record that it points to. |
| begun | It says that the restore has happened. |
`;

const DATA_KEYS =
  `Personal data in \`consent\`, \`payment\`, \`authorization_session\`, \`evidence\` and \`audit\` is encrypted under the data
key of the case, in the member \`sealedMembers\` ([P3](decisions/p-proof.md#p3)). The other members
stay readable.
`;

const REPORTING = `## Reporting

A PostgreSQL database has these tables and views for analysts. They are written in the commit of the records. The
role \`hub_reader\` may read them and nothing else ([PostgreSQL](operations/postgresql.md#reporting)). They contain no account, name, customer id, balance, reference or
free text of a TPP, a bank or an operator, and no token, code or key. Amounts and the ids of consents and payments
are pseudonymous: a TPP or a bank can tell which customer they belong to. Times are \`timestamptz\`.
`;

/** Returns the document, formatted except for the widths of its tables. */
export function storageDocument(): string {
  return [
    INTRODUCTION,
    section("Platform", platformRecords),
    DATA_KEYS,
    section("Data key store", dataKeyRecords),
    section("Directory", [...directoryRecords, ...baseRecords]),
    REPORTING,
    ...reportingSections(),
  ].join("\n");
}

function section(title: string, records: readonly Documented[]): string {
  const rows = records.map(
    ({ name, keyParts, what, version, lifetime, personalData, retention, restore }) => {
      const parts = keyParts.length === 0 ? "–" : keyParts.join(", ");
      return `| \`${name}\` | ${parts} | ${what} | ${version} | ${lifetime} | ${personalData} | ${retention} | ${restore} |`;
    },
  );
  const head = [
    "| Record | Rest of the key | Content | Version | Lifetime | Personal data | Retention | Restore |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
  ];
  return [`## ${title}`, "", ...head, ...rows, ""].join("\n");
}

const COMMENT = /^comment on (table|view|column) reporting\.([\w.]+) is '((?:[^']|'')*)';$/gm;

/** From the comments of the migrations, so that the database and this document agree. */
function reportingSections(): string[] {
  const comments = MIGRATIONS.flatMap(({ sql }) => [...sql.matchAll(COMMENT)])
    .map(([, kind, name = "", quoted = ""]) => ({ kind, name, text: quoted.replaceAll("''", "'") }));
  return comments.filter(({ kind }) => kind !== "column").map(({ name: table, text }) => {
    const columns = comments.filter(({ name }) => name.startsWith(`${table}.`))
      .map(({ name, text }) => `| \`${name.slice(table.length + 1)}\` | ${text} |`);
    return [
      `### \`reporting.${table}\``,
      "",
      text,
      "",
      "| Column | Content |",
      "| --- | --- |",
      ...columns,
      "",
    ]
      .join("\n");
  });
}
