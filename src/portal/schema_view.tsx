/** Draws schemas as nested lists of members, which read in order and need no sideways scrolling on a phone. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { Fact } from "../pages/fact.tsx";
import { anchor, documentPath, type Link, TYPES_PATH } from "./paths.ts";
import type { Field, Shape } from "./schema_shape.ts";
import * as sources from "./documents.ts";

/** The anchor of a shared schema. */
export function typeAnchor(name: string): string {
  return `type-${anchor(name)}`;
}

/** Text with `code` between backticks, a paragraph for each block. Other Markdown is not supported. */
export function Prose({ text = "" }: { readonly text: string | undefined }): JSX.Element {
  const blocks = text.split(/\n\s*\n/).filter((block) => block.trim() !== "");
  return <>{blocks.map((block) => <p>{inline(block)}</p>)}</>;
}

/** A list of what `draw` makes of each item, if there is one. */
export function listOf<Item>(items: readonly Item[], draw: (item: Item) => Child): JSX.Element | null {
  return items.length === 0 ? null : <ul>{items.map((item) => <li>{draw(item)}</li>)}</ul>;
}

/** A list of named facts. */
export function factsOf(facts: readonly (readonly [name: Child, value: Child])[]): JSX.Element {
  return <dl class="facts">{facts.map(([name, value]) => <Fact name={name}>{value}</Fact>)}</dl>;
}

/** Links in one line, with commas between them. */
export function linksOf(links: readonly Link[]): Child[] {
  return links.map(([href, text], place) => (
    <>
      {place === 0 ? null : ", "}
      <a href={href}>{text}</a>
    </>
  ));
}

/** A named part with type, rules, words and its own parts. */
export function fieldView({ name, required, shape, place }: Field): JSX.Element {
  const rules = rulesAbout(name);
  return (
    <>
      <code>{name}</code> {drawType(shape, place)} {required ? <b>required</b> : null}
      {rules.length === 0 ? null : <small>rule {linksOf(rules)}</small>}
      {restOf(shape)}
    </>
  );
}

/** A schema that has no name here: a body. */
export function shapeViewOf(shape: Shape): JSX.Element {
  return <>{drawType(shape)} {restOf(shape)}</>;
}

function drawType({ link, type, rules }: Shape, place = ""): JSX.Element {
  if (link !== undefined) return <a href={`${TYPES_PATH}#${typeAnchor(link)}`}>{link}</a>;
  return <small>{inline([place, type, ...rules].filter((word) => word !== "").join(", "))}</small>;
}

function restOf({ description, fields, items, alternatives }: Shape): JSX.Element {
  return (
    <>
      <Prose text={description} />
      {listOf(fields, fieldView)}
      {items === undefined ? null : variantsOf("Each element:", [items])}
      {alternatives.length === 0 ? null : variantsOf("One of:", alternatives)}
    </>
  );
}

function variantsOf(words: string, shapes: readonly Shape[]): JSX.Element {
  return (
    <>
      <p>{words}</p>
      {listOf(shapes, shapeViewOf)}
    </>
  );
}

/** Text in which `code` stands between backticks. */
export function inline(text: string): Child[] {
  return text.split("`").map((part, place) => place % 2 === 0 ? part : <code>{part}</code>);
}

/** A rule and the names that it begins with. Ids with a hyphen are cases that tests check. */
const RULE = /<a id="([a-z0-9]+)"><\/a>\*\*([A-Z0-9]+)\*\*\s+((?:`[\w.-]+`(?:,| and)?\s*)+)/g;
const MAX_RULES = 3;

let made: ReadonlyMap<string, readonly Link[]> | undefined;

/** Links to the rules about a field of this name, such as `CreditorAccount`. */
export function rulesAbout(name: string): readonly Link[] {
  return (made ??= rulesByName()).get(name)?.slice(0, MAX_RULES) ?? [];
}

function rulesByName(): ReadonlyMap<string, readonly Link[]> {
  const rules = new Map<string, Link[]>();
  for (const [document, text] of Object.entries(sources).filter(([path]) => path.startsWith("contract/"))) {
    for (const [, id = "", title = "", names = ""] of text.matchAll(RULE)) {
      for (const [, name = ""] of names.matchAll(/`(?:[\w-]+\.)*([\w-]+)`/g)) {
        rules.set(name, [...rules.get(name) ?? [], [`${documentPath(document)}#${id}`, title]]);
      }
    }
  }
  return rules;
}
