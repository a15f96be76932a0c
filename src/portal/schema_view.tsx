/** Draws schemas as nested lists of members, which read in order and need no sideways scrolling on a phone. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { Fact } from "../pages/fact.tsx";
import { anchor, TYPES_PATH } from "./paths.ts";
import { rulesAbout } from "./contract_rules.ts";
import type { Field, Shape } from "./schema_shape.ts";

/** The anchor of a shared schema. */
export function typeAnchor(name: string): string {
  return `type-${anchor(name)}`;
}

/** Text with `code` between backticks, a paragraph for each block. Other Markdown is not supported. */
export function Prose({ text }: { readonly text: string | undefined }): JSX.Element {
  const blocks = (text ?? "").split(/\n\s*\n/).filter((block) => block.trim() !== "");
  return <>{blocks.map((block) => <p>{inline(block)}</p>)}</>;
}

/** A list of what `draw` makes of each item. */
export function listOf<Item>(items: readonly Item[], draw: (item: Item) => Child): JSX.Element {
  return <ul>{items.map((item) => <li>{draw(item)}</li>)}</ul>;
}

/** A list of named facts. */
export function factsOf(facts: readonly (readonly [name: Child, value: Child])[]): JSX.Element {
  return <dl class="facts">{facts.map(([name, value]) => <Fact name={name}>{value}</Fact>)}</dl>;
}

/** A named part as it is listed. `place` says where a parameter is sent. */
export type ListedField = Field & { readonly place?: string };

/** Named parts, each with type, rules, words and its own parts. */
export function Fields({ fields }: { readonly fields: readonly ListedField[] }): JSX.Element | null {
  return fields.length === 0 ? null : listOf(fields, (field) => <Entry field={field} />);
}

/** One named part. */
export function Entry({ field }: { readonly field: ListedField }): JSX.Element {
  const { name, required, shape, place } = field;
  return (
    <>
      <code>{name}</code> <Kind shape={shape} place={place} /> {required ? <b>required</b> : null}
      <Rules name={name} />
      <Rest shape={shape} />
    </>
  );
}

/** The rules of the contract about a field of this name. */
function Rules({ name }: { readonly name: string }): JSX.Element | null {
  const rules = rulesAbout(name);
  if (rules.length === 0) return null;
  const links = rules.map(([href, id], place) => (
    <>
      {place === 0 ? " rule " : ", "}
      <a href={href}>{id}</a>
    </>
  ));
  return <small>{links}</small>;
}

/** A schema that has no name here: a body. */
export function ShapeView({ shape }: { readonly shape: Shape }): JSX.Element {
  return (
    <>
      <Kind shape={shape} />
      <Rest shape={shape} />
    </>
  );
}

function Kind({ shape, place }: { readonly shape: Shape; readonly place?: string | undefined }): JSX.Element {
  if (shape.link !== undefined) return <a href={`${TYPES_PATH}#${typeAnchor(shape.link)}`}>{shape.link}</a>;
  const words = [place ?? "", shape.type, ...shape.rules].filter((word) => word !== "");
  return <small>{inline(words.join(", "))}</small>;
}

function Rest({ shape }: { readonly shape: Shape }): JSX.Element {
  const { description, fields, items, alternatives } = shape;
  return (
    <>
      {description === undefined ? null : <Prose text={description} />}
      <Fields fields={fields} />
      <Variants says="Each element:" shapes={items === undefined ? [] : [items]} />
      <Variants says="One of:" shapes={alternatives} />
    </>
  );
}

function Variants(
  { says, shapes }: { readonly says: string; readonly shapes: readonly Shape[] },
): JSX.Element | null {
  if (shapes.length === 0) return null;
  return (
    <>
      <p>{says}</p>
      {listOf(shapes, (shape) => <ShapeView shape={shape} />)}
    </>
  );
}

/** Text in which `code` stands between backticks. */
export function inline(text: string): Child[] {
  return text.split("`").map((part, place) => place % 2 === 0 ? part : <code>{part}</code>);
}
