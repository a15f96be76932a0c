/** The changes that administrators make in the console. Each one is a request of the administrators' endpoints with a form. */
import type { z } from "zod";
import type { FormField } from "../../console/form.tsx";
import type { Form } from "../../base/http/body.ts";
import { strictJson } from "../../base/kernel/json.ts";
import type { participantRecord } from "../http/answer_schema.ts";
import { ORGANISATION_STATUSES, SOFTWARE_STATUSES } from "../participants/participant.ts";
import type { PlainKey } from "./phrase.ts";

export type ParticipantRecord = z.infer<typeof participantRecord>;

type Titles<Key> = Key extends `change.${infer Title}.effect` ? Title : never;
export type ChangeName = Titles<PlainKey>;

/** A field without its words, which follow from its name. */
export interface Field extends Pick<FormField, "kind" | "isOptional" | "most" | "ofRole"> {
  readonly name: string;
  readonly group?: "organisation" | "contacts" | "software" | "keys";
  /** If it is not the one of its name. */
  readonly hint?: PlainKey;
  /** Words of the values follow from this key. */
  readonly choices?: { readonly of: "status" | "role"; readonly values: readonly string[] };
  /** The initial values of the form. */
  readonly value?: (record: ParticipantRecord) => string;
}

export interface Change {
  readonly name: ChangeName;
  /** Below `/console`. */
  readonly page: `/${string}`;
  /** The administrators' endpoint, with the parameters of the page. */
  readonly api: `/${string}`;
  readonly method: "POST" | "PUT";
  readonly fields: (record: ParticipantRecord | undefined) => readonly Field[];
  readonly body: (form: Form, context: BodyContext) => object | undefined;
}

/** The values that a body needs beside the form. */
export interface BodyContext {
  readonly environment: string;
  readonly record: ParticipantRecord | undefined;
}

const ONE = "/participants/{org_id}";
const OWN = "/own";
const REASON: Field = { name: "reason", kind: "lines", most: 256 };
const CSR_HINT = "field.csr.hint";
const MAX_PEM = 8192;

const csr = (name: "signing" | "transport" | "encryption"): Field => ({
  name: `csr_${name}`,
  kind: "codes",
  hint: CSR_HINT,
  most: MAX_PEM,
  isOptional: true,
});

const CSRS: readonly Field[] = [csr("signing"), csr("transport"), csr("encryption")];

const SOFTWARE: readonly Field[] = [
  { name: "client_name", kind: "line", most: 128, value: ({ software }) => software.client_name },
  { name: "description", kind: "line", most: 512, value: ({ software }) => software.description },
  { name: "version", kind: "line", most: 32, value: ({ software }) => software.version },
  { name: "client_uri", kind: "code", value: ({ software }) => software.client_uri },
  { name: "logo_uri", kind: "code", value: ({ software }) => software.logo_uri },
  {
    name: "redirect_uris",
    kind: "codes",
    hint: "field.redirect_uris.hint",
    value: ({ software }) => software.redirect_uris.join("\n"),
  },
];

const OF_BANKS: readonly Field[] = [
  {
    name: "consent_managedby_bank",
    kind: "check",
    value: (record) => String(record.consent_managedby_bank ?? false),
  },
  {
    name: "results_on_back_channel",
    kind: "check",
    value: (record) => String(record.results_on_back_channel ?? false),
  },
  {
    name: "payment_orders_uri",
    kind: "code",
    hint: "field.payment_orders_uri.hint",
    isOptional: true,
    value: (record) => record.payment_orders_uri ?? "",
  },
];

const OF_TPPS: readonly Field[] = [
  {
    name: "event_notification_uri",
    kind: "code",
    hint: "field.event_notification_uri.hint",
    isOptional: true,
    value: (record) => record.event_notification_uri ?? "",
  },
];

const CONTACTS = ["business", "technical"] as const;

const inGroup = (group: Field["group"] & string, ...fields: readonly Field[]): readonly Field[] =>
  fields.map((field) => ({ ...field, group }));
const ofRole = (role: Field["ofRole"] & string, fields: readonly Field[]): readonly Field[] =>
  fields.map((field) => ({ ...field, ofRole: role }));

const ONBOARDING: readonly Field[] = [
  ...inGroup(
    "organisation",
    { name: "role", kind: "choice", choices: { of: "role", values: ["PISP", "ASPSP"] } },
    { name: "org_id", kind: "code", hint: "field.org_id.hint", most: 32, isOptional: true },
    { name: "org_name", kind: "line", most: 128 },
    { name: "registration_number", kind: "line", most: 64 },
  ),
  ...inGroup(
    "contacts",
    ...CONTACTS.flatMap((type): Field[] => [
      { name: `${type}_name`, kind: "line", most: 128 },
      { name: `${type}_email`, kind: "code", most: 254 },
      { name: `${type}_phone`, kind: "code", most: 32 },
    ]),
  ),
  ...inGroup("software", ...SOFTWARE, ...ofRole("PISP", OF_TPPS), ...ofRole("ASPSP", OF_BANKS)),
  ...inGroup("keys", ...CSRS),
];

/** A change whose page has the path of its endpoint. */
function change(
  name: ChangeName,
  path: `/${string}`,
  fields: readonly Field[] | Change["fields"],
  body: Change["body"],
  method: Change["method"] = "POST",
): Change {
  return {
    name,
    page: path,
    api: path,
    method,
    fields: typeof fields === "function" ? fields : () => fields,
    body,
  };
}

/** A change that needs a reason alone. */
function withReason(name: ChangeName, path: `/${string}`): Change {
  return change(name, path, [REASON], (form) => ({ reason: readField(form, "reason") }));
}

export const CHANGES: readonly Change[] = [
  { ...change("onboard", "/onboard", ONBOARDING, onboardingBody), api: "/participants" },
  change("certificates", `${ONE}/certificates`, CSRS, (form) => ({ csrs: csrsOf(form) })),
  withReason("revokeKey", `${ONE}/keys/{kid}/revoke`),
  change(
    "statement",
    `${ONE}/statement`,
    (record) => [...SOFTWARE, ...record?.role === "ASPSP" ? OF_BANKS : OF_TPPS],
    (form, { record }) => changedIn(form, { ...softwareOf(form), ...membersOf(record?.role, form, null) }),
  ),
  change(
    "softwareStatus",
    `${ONE}/software/status`,
    [statusField(SOFTWARE_STATUSES, (one) => one.software_client_status), REASON],
    statusBody,
    "PUT",
  ),
  change(
    "organisationStatus",
    `${ONE}/status`,
    [statusField(ORGANISATION_STATUSES, (one) => one.org_status), REASON],
    statusBody,
    "PUT",
  ),
  change(
    "certification",
    `${ONE}/certifications`,
    [{ name: "report", kind: "codes", hint: "field.report.hint" }],
    (form) => ({ report: (form.get("report") ?? "").replaceAll(/\s/g, "") }),
  ),
  change(
    "login",
    `${ONE}/logins`,
    [{ name: "login_name", kind: "code", hint: "field.login_name.hint", most: 64 }],
    (form) => ({ name: form.get("login_name") }),
  ),
  withReason("revokeLogin", `${ONE}/logins/{login_id}/revoke`),
  withReason("approve", "/proposals/{proposal_id}/approve"),
  withReason("reject", "/proposals/{proposal_id}/reject"),
  change("restored", "/restored/confirm", [], () => undefined),
];

/** The changes that a participant's people make. The organisation of the path is theirs. */
export const OWN_CHANGES: readonly Change[] = [
  ...CHANGES.filter(({ name }) => name === "certificates" || name === "revokeKey"),
  change("ownStatement", `${ONE}/statement`, [], () => ({})),
].map((own) => ({ ...own, page: own.page.replace(ONE, OWN) }) as Change);

/** A value of the participant that a proposed change replaces. */
export interface Difference {
  readonly field: Field;
  readonly now: string;
  readonly after: string;
}

/** The forms whose fields show what the participant has. */
const FORMS: Readonly<Partial<Record<string, ChangeName>>> = {
  issueStatement: "statement",
  setSoftwareStatus: "softwareStatus",
  setOrganisationStatus: "organisationStatus",
};

/** Returns what a proposed change replaces. A change that only adds or ends something replaces nothing. */
export function differencesOf(
  { change, body }: { readonly change: string; readonly body?: unknown },
  record: ParticipantRecord,
): readonly Difference[] {
  const proposed: Readonly<Record<string, unknown>> = Object(body);
  const fields = CHANGES.find(({ name }) => name === FORMS[change])?.fields(record) ?? [];
  return fields.flatMap((field): Difference[] => {
    if (field.value === undefined || !Object.hasOwn(proposed, field.name)) return [];
    const [now, after] = [field.value(record), textAsInForm(proposed[field.name])];
    return now === after ? [] : [{ field, now, after }];
  });
}

/** Of a form: the values that it had when it was opened, as JSON. */
const OPENED_WITH = "opened_with";

/** What the form of a change sends besides its fields. One that is for a single value replaces that value. */
export function hiddenOf(
  { name, fields }: Change,
  form: Form,
  record: ParticipantRecord | undefined,
): readonly (readonly [name: string, value: string])[] {
  if (name !== "statement" || record === undefined) return [];
  const values = fields(record).flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value(record)]]
  );
  return [[OPENED_WITH, form.get(OPENED_WITH) ?? JSON.stringify(Object.fromEntries(values))]];
}

/** The members that differ from those of the opened form, so that what others have changed meanwhile stays. */
function changedIn(form: Form, body: object): object {
  const sent = strictJson(form.get(OPENED_WITH) ?? "");
  const opened: Readonly<Record<string, unknown>> = Object(sent.ok ? sent.value : undefined);
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => textAsInForm(value) !== opened[name]),
  );
}

function textAsInForm(value: unknown): string {
  return Array.isArray(value) ? value.join("\n") : String(value ?? "");
}

function statusField(values: readonly string[], value: (record: ParticipantRecord) => string): Field {
  return { name: "status", kind: "choice", choices: { of: "status", values }, value };
}

function statusBody(form: Form): object {
  return { status: form.get("status"), reason: readField(form, "reason") };
}

function onboardingBody(form: Form, { environment }: BodyContext): object {
  const role = form.get("role");
  return {
    role,
    ...given("org_id", form.get("org_id")),
    org_name: form.get("org_name"),
    registration_number: form.get("registration_number"),
    contacts: CONTACTS.map((type) => ({
      type,
      name: form.get(`${type}_name`),
      email: form.get(`${type}_email`),
      phone: form.get(`${type}_phone`),
    })),
    software: { ...softwareOf(form), environment },
    ...membersOf(role, form, undefined),
    ...(CSRS.some(({ name }) => form.has(name)) ? { csrs: csrsOf(form) } : {}),
  };
}

function softwareOf(form: Form): object {
  return {
    client_name: readField(form, "client_name"),
    description: readField(form, "description"),
    version: readField(form, "version"),
    client_uri: readField(form, "client_uri"),
    logo_uri: readField(form, "logo_uri"),
    redirect_uris: (form.get("redirect_uris") ?? "").split(/\s+/).filter((uri) => uri !== ""),
  };
}

/**
 * Members that only banks or only TPPs have.
 *
 * @param none what stands for no address
 */
function membersOf(role: string | undefined, form: Form, none: null | undefined): object {
  if (role !== "ASPSP") return { event_notification_uri: form.get("event_notification_uri") ?? none };
  return {
    consent_managedby_bank: form.get("consent_managedby_bank") === "true",
    results_on_back_channel: form.get("results_on_back_channel") === "true",
    payment_orders_uri: form.get("payment_orders_uri") ?? none,
  };
}

function csrsOf(form: Form): object {
  return {
    ...given("signing", form.get("csr_signing")),
    ...given("transport", form.get("csr_transport")),
    ...given("encryption", form.get("csr_encryption")),
  };
}

function given(name: string, value: string | undefined): object {
  return value === undefined ? {} : { [name]: value.trim() };
}

/** Lines become one: a browser sends the line breaks of a text field. */
function readField(form: Form, name: string): string | undefined {
  return form.get(name)?.replaceAll(/\s+/g, " ").trim();
}
