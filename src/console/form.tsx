/** The page of a change: what it does, a form, and why it was not made. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { Fault } from "./parts.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "./visit.ts";

/** A field of a form. */
export interface FormField {
  readonly name: string;
  /** What the API calls it, if that is another name. */
  readonly member?: string;
  readonly label: Child;
  readonly hint?: Child;
  /** `code` and `codes` are for programs, such as addresses and keys. */
  readonly kind: "lines" | "line" | "time" | "check" | "choice" | "code" | "codes";
  /** Characters. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  readonly isOptional?: boolean;
  /** Values of a choice with their words. */
  readonly choices?: readonly (readonly [value: string, words: Child])[];
  /** The head of the group of fields that it is in. */
  readonly group?: string | undefined;
  /** Shown only while the field `role` of the form has this value. */
  readonly ofRole?: "PISP" | "ASPSP" | undefined;
  /** Of the first form; a form that is shown again has what was sent. */
  readonly value?: string;
}

/** A change as its page shows it. */
export interface FormView {
  readonly title: Child;
  /** The id of what is changed, and its name. */
  readonly of?: string;
  readonly ofName?: string | undefined;
  readonly effect: Child;
  /** The change that the form decides on. */
  readonly details?: Child;
  /** The path of the form. */
  readonly path: string;
  readonly fields: readonly FormField[];
  /** Sent with the fields. */
  readonly hidden?: readonly (readonly [name: string, value: string])[];
  readonly submit: Child;
  /** It stops or takes away something. */
  readonly isDanger?: boolean;
  /** The page that the reader came from. */
  readonly back: string;
  /** Why the API did not make the change, in English. */
  readonly fault?: string | undefined;
}

export function ChangeForm({ visit, view }: { readonly visit: Visit; readonly view: FormView }): JSX.Element {
  const { language, formToken } = visit;
  const { title, of, ofName, effect, details = null, path, fields, hidden = [], submit, back } = view;
  const fault = view.fault === undefined ? undefined : inWordsOf(fields, view.fault);
  return (
    <article class="card act">
      <h1>{title}</h1>
      {of === undefined ? null : (
        <p class="subject">
          {ofName === undefined ? null : (
            <>
              <strong>
                <bdi>{ofName}</bdi>
              </strong>
              {" "}
            </>
          )}
          <code dir="ltr">{of}</code>
        </p>
      )}
      <p>{effect}</p>
      {details}
      {fault === undefined
        ? null
        : <Fault language={language} why="form.rejected" description={fault.words} />}
      <form method="post" action={path}>
        <input type="hidden" name="form_token" value={formToken} />
        {hidden.map(([name, value]) => <input type="hidden" name={name} value={value} />)}
        {drawFields(visit, fields, fault?.of)}
        <div class="buttons">
          <button type="submit" class={view.isDanger === true ? "accept danger" : "accept"}>{submit}</button>
          <a class="button" href={back}>
            <span>{phrase(language, "form.back")}</span>
          </a>
        </div>
      </form>
    </article>
  );
}

/** The fields in their groups. */
function drawFields(
  visit: Visit,
  fields: readonly FormField[],
  faults: ReadonlyMap<FormField, string> | undefined,
): JSX.Element {
  return (
    <>
      {[...Map.groupBy(fields, ({ group }) => group)].map(([group, some]) => {
        const rows = some.map((field) => drawFieldRow(visit, field, faults?.get(field)));
        return group === undefined ? rows : (
          <fieldset class="group">
            <legend>{group}</legend>
            <div class="fields">{rows}</div>
          </fieldset>
        );
      })}
    </>
  );
}

/** The sentence of the API with the labels of the fields that it names, and for each of these what it says of it. */
function inWordsOf(
  fields: readonly FormField[],
  description: string,
): { readonly words: string; readonly of: ReadonlyMap<FormField, string> } {
  const quoted = ({ label }: FormField): string => `“${[label].flat(2).join("")}”`;
  const words = fields.reduce((text, field) => {
    const named = RegExp(`(?<![\\w.])(?:Data\\.)?${field.member ?? field.name}(?![\\w“”])`, "g");
    return text.replaceAll(named, quoted(field));
  }, description);
  const of = new Map<FormField, string>();
  for (const field of fields) {
    const own = words.split("; ").filter((part) => part.includes(quoted(field)));
    if (own.length > 0) of.set(field, own.join("; "));
  }
  return { words, of };
}

function drawFieldRow({ form, language }: Visit, field: FormField, fault: string | undefined): JSX.Element {
  const { name, label, hint, kind, ofRole } = field;
  const of = ofRole === undefined ? "" : ` of-${ofRole}`;
  const value = form.get(name) ?? (form.size === 0 ? field.value : undefined) ?? "";
  if (kind === "check") {
    return (
      <div class={`check${of}`}>
        <input type="checkbox" id={name} name={name} value="true" checked={value === "true"} />
        <label for={name}>{label}</label>
      </div>
    );
  }
  return (
    <div class={`field${of}`}>
      <label for={name}>
        {label}
        {field.isOptional === true
          ? <span class="optional">{[" ", ...phrase(language, "form.optional")]}</span>
          : null}
      </label>
      {hint === undefined ? null : <p class="hint" id={`${name}-hint`}>{hint}</p>}
      {fault === undefined
        ? null
        : <p class="field-fault" id={`${name}-fault`} lang="en" dir="ltr">{fault}</p>}
      {drawInput(field, value, fault !== undefined)}
    </div>
  );
}

/** Text for programs: its direction and spelling are not those of the reader's language. */
const CODE = { dir: "ltr", spellcheck: false, autocapitalize: "off" } as const;

function drawInput(field: FormField, value: string, isFaulty: boolean): JSX.Element {
  const { name, hint, kind, least: minlength, most: maxlength, isOptional = false, choices = [] } = field;
  const ids = [...(hint === undefined ? [] : [`${name}-hint`]), ...(isFaulty ? [`${name}-fault`] : [])];
  const described = ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") };
  const invalid = isFaulty ? { "aria-invalid": "true" as const } : {};
  const common = { id: name, name, required: !isOptional, ...described, ...invalid };
  switch (kind) {
    case "choice":
      return (
        <select {...common}>
          {choices.map(([one, words]) => <option value={one} selected={one === value}>{words}</option>)}
        </select>
      );
    case "lines":
      return <textarea {...common} minlength={minlength} maxlength={maxlength} rows={3}>{value}</textarea>;
    case "codes":
      return <textarea {...common} {...CODE} maxlength={maxlength} rows={4}>{value}</textarea>;
    case "code":
      return <input {...common} {...CODE} type="text" maxlength={maxlength} value={value} />;
    case "time":
      return <input {...common} type="datetime-local" value={value} dir="ltr" />;
    default:
      return <input {...common} type="text" minlength={minlength} maxlength={maxlength} value={value} />;
  }
}
