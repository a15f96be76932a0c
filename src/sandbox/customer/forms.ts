/**
 * Just enough HTML to fill in a form the way a browser does: finds forms, their fields and their buttons in
 * a page and builds what a browser would post. Reads server-rendered pages of the sandbox; runs no script,
 * applies no style.
 */

/** A field of a form. `value` of a radio or checkbox counts only when it is chosen. The options of a list are radios. */
export interface HtmlField {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly checked: boolean;
  readonly disabled: boolean;
}

/** A form as found in a page. */
export interface HtmlForm {
  readonly id: string;
  readonly method: "get" | "post";
  /** As written; empty means the page's own address. */
  readonly action: string;
  readonly fields: readonly HtmlField[];
  readonly buttons: readonly HtmlField[];
}

type Attributes = ReadonlyMap<string, string>;

interface OpenForm {
  readonly form: Attributes;
  readonly fields: HtmlField[];
  readonly buttons: HtmlField[];
  list?: { readonly attributes: Attributes; readonly options: HtmlField[] } | undefined;
}

const tagPattern = /<(\/?)([a-z][a-z0-9-]*)((?:"[^"]*"|'[^']*'|[^"'>])*)>([^<]*)/gi;
const attributePattern = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;
const notMarkup = /<!--[\s\S]*?-->|<(script|style)\b[\s\S]*?<\/\1\s*>/gi;
const namedEntities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

/** The forms of a page, in its order. */
export function findForms(page: string): readonly HtmlForm[] {
  const forms: HtmlForm[] = [];
  let open: OpenForm | undefined;
  for (const { closes, name, attributes, text } of tags(page)) {
    if (name === "form" && !closes) open = { form: attributes, fields: [], buttons: [] };
    else if (open === undefined) continue;
    else if (name === "form") {
      forms.push(formOf(open.form, open.fields, open.buttons));
      open = undefined;
    } else if (name === "select") open.list = closes ? endList(open) : { attributes, options: [] };
    else if (!closes) addControl(name, attributes, text, open);
  }
  return forms;
}

/**
 * The fields that a browser posts for this form: every enabled field, with `choices` in place of the current values,
 * and the pressed button.
 * @throws {Error} if `choices` names a field or a radio value, or `button` a value, that the form does not offer.
 */
export function fillForm(
  form: HtmlForm,
  choices: Readonly<Record<string, string>>,
  button: { readonly name: string; readonly value: string },
): URLSearchParams {
  const enabled = form.fields.filter((field) => !field.disabled && field.name !== "");
  const successful = enabled.filter((field) => isSuccessful(field, choices[field.name]));
  const missing = Object.keys(choices).find((name) => !successful.some((field) => field.name === name));
  if (missing !== undefined) throw new Error(`Form "${form.id}" does not offer this choice of "${missing}"`);
  if (!form.buttons.some((offered) => offered.name === button.name && offered.value === button.value)) {
    throw new Error(`Form "${form.id}" has no button ${button.name}=${button.value}`);
  }
  const pairs = successful.map((field) => [field.name, choices[field.name] ?? field.value]);
  return new URLSearchParams(button.name === "" ? pairs : [...pairs, [button.name, button.value]]);
}

/** The text of the page's first heading, for an error message. */
export function firstHeading(page: string): string {
  const inner = /<h1\b[^>]*>([\s\S]*?)<\/h1>/i.exec(page)?.[1] ?? "";
  return decodeEntities(inner.replace(/<[^>]*>/g, "")).trim();
}

function isSuccessful(field: HtmlField, choice: string | undefined): boolean {
  if (field.type !== "radio" && field.type !== "checkbox") return true;
  return choice === undefined ? field.checked : field.value === choice;
}

interface Tag {
  readonly closes: boolean;
  readonly name: string;
  readonly attributes: Attributes;
  /** The text behind it. */
  readonly text: string;
}

function* tags(page: string): Generator<Tag> {
  for (
    const [, slash, name = "", inside = "", text = ""] of page.replace(notMarkup, "").matchAll(tagPattern)
  ) {
    const attributes = attributesOf(inside);
    yield { closes: slash === "/", name: name.toLowerCase(), attributes, text: decodeEntities(text) };
  }
}

function attributesOf(inside: string): Attributes {
  const attributes = new Map<string, string>();
  for (const [, name = "", double, single, bare] of inside.matchAll(attributePattern)) {
    const key = name.toLowerCase();
    const value = decodeEntities(double ?? single ?? bare ?? "");
    if (!attributes.has(key)) attributes.set(key, value); // HTML: the first of two wins
  }
  return attributes;
}

function formOf(form: Attributes, fields: readonly HtmlField[], buttons: readonly HtmlField[]): HtmlForm {
  return {
    id: form.get("id") ?? "",
    method: form.get("method")?.toLowerCase() === "post" ? "post" : "get",
    action: form.get("action") ?? "",
    fields,
    buttons,
  };
}

/** A browser chooses the first option if the page chooses none. */
function endList({ list, fields }: OpenForm): undefined {
  const [first, ...others] = list?.options ?? [];
  if (first === undefined) return;
  const isChosen = [first, ...others].some(({ checked }) => checked) || list?.attributes.has("multiple");
  fields.push(isChosen ? first : { ...first, checked: true }, ...others);
}

function addOption(attributes: Attributes, text: string, { list }: OpenForm): void {
  list?.options.push({
    name: list.attributes.get("name") ?? "",
    type: "radio",
    value: attributes.get("value") ?? text.trim(),
    checked: attributes.has("selected"),
    disabled: list.attributes.has("disabled") || attributes.has("disabled"),
  });
}

function addControl(name: string, attributes: Attributes, text: string, open: OpenForm): void {
  if (name === "option") return addOption(attributes, text, open);
  if (name !== "input" && name !== "button") return;
  const type = (attributes.get("type") ?? (name === "button" ? "submit" : "text")).toLowerCase();
  const control = {
    name: attributes.get("name") ?? "",
    type,
    value: attributes.get("value") ?? (type === "checkbox" || type === "radio" ? "on" : ""),
    checked: attributes.has("checked"),
    disabled: attributes.has("disabled"),
  };
  if (type === "submit") open.buttons.push(control);
  else if (type !== "button" && type !== "reset") open.fields.push(control);
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (entity, hex, decimal, name) => {
    if (name !== undefined) return namedEntities[String(name).toLowerCase()] ?? entity;
    const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}
