/** Writes and reads messages of ISO 20022: XML without a document type, whose elements are all of one namespace. */
import { DOMParser, type Element, MIME_TYPE, onErrorStopParsing, XMLSerializer } from "@xmldom/xmldom";

/** Far above the size of a message about one payment. */
const MAX_CHARACTERS = 65_536;

/** The text is not a message about one payment. The message says what was expected, and repeats nothing of the text. */
export class UnreadableMessage extends Error {
  override readonly name = "UnreadableMessage";
}

/**
 * An element to be written: its name, as `{namespace}name` if it is not of the message's namespace, and its content, of
 * which what is undefined is left out.
 */
export type Written = readonly [name: string, ...content: (Written | string | undefined)[]];

/** An element, or nothing if it would have no content. */
export function filled(name: string, ...content: (Written | string | undefined)[]): Written | undefined {
  return content.some((each) => each !== undefined) ? [name, ...content] : undefined;
}

/** Writes a message. @param attribute of the elements of this name */
export function writeMessage(
  kind: string,
  root: Written,
  attribute: { readonly of: string; readonly name: string; readonly value: string } | undefined = undefined,
): string {
  const document = new DOMParser().parseFromString(`<Document xmlns="${kind}"/>`, MIME_TYPE.XML_APPLICATION);
  const append = (parent: Element, [name, ...content]: Written): void => {
    const element = document.createElementNS(...qualifiedName(name, kind));
    if (name === attribute?.of) element.setAttribute(attribute.name, attribute.value);
    for (const each of content) {
      if (typeof each === "string") element.appendChild(document.createTextNode(each));
      else if (each !== undefined) append(element, each);
    }
    parent.appendChild(element);
  };
  append(rootOf(document.documentElement), root);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(document)}\n`;
}

/**
 * A part of a message that is read. A path names one element in another, such as `PmtId/EndToEndId`, each
 * as {@link Written} does.
 */
export interface Part {
  /** @throws {UnreadableMessage} if there are several */
  readonly part: (path: string) => Part | undefined;
  /** @throws {UnreadableMessage} if there are several, or it has elements */
  readonly text: (path: string) => string | undefined;
  /** The texts of elements that may be repeated. */
  readonly texts: (path: string) => readonly string[];
  readonly attribute: (name: string) => string | undefined;
}

/**
 * Opens a message.
 *
 * @param kind its namespace
 * @throws {UnreadableMessage} if it is too long, no well-formed XML, has a document type, or is of another kind
 */
export function openMessage(kind: string, xml: string): Part {
  if (xml.length > MAX_CHARACTERS) throw new UnreadableMessage(`longer than ${MAX_CHARACTERS} characters`);
  if (xml.includes("<!DOCTYPE")) throw new UnreadableMessage("has a document type; expected none");
  const root = rootOf(parseXml(xml));
  if (root.localName !== "Document" || root.namespaceURI !== kind) {
    throw new UnreadableMessage(`expected a Document of ${kind}`);
  }
  return partOf(root, kind);
}

function parseXml(xml: string): Element | null {
  try {
    const parser = new DOMParser({ onError: onErrorStopParsing });
    return parser.parseFromString(xml, MIME_TYPE.XML_APPLICATION).documentElement;
  } catch {
    throw new UnreadableMessage("expected well-formed XML");
  }
}

function rootOf(element: Element | null): Element {
  if (element === null) throw new UnreadableMessage("expected a root element");
  return element;
}

function partOf(element: Element, kind: string): Part {
  const all = (path: string): readonly Element[] =>
    path.split("/").reduce<readonly Element[]>(
      (parents, name) => parents.flatMap((parent) => childrenOf(parent, kind, name)),
      [element],
    );
  const one = (path: string): Element | undefined => {
    const [first, ...others] = all(path);
    if (others.length > 0) throw new UnreadableMessage(`expected one ${path}`);
    return first;
  };
  return {
    part(path) {
      const found = one(path);
      return found && partOf(found, kind);
    },
    text(path) {
      const found = one(path);
      return found && textOf(found);
    },
    texts: (path) => all(path).map(textOf),
    attribute: (name) => element.getAttribute(name) ?? undefined,
  };
}

function textOf({ childNodes, textContent, localName }: Element): string {
  if ([...childNodes].some((child) => child.nodeType === child.ELEMENT_NODE)) {
    throw new UnreadableMessage(`expected text alone in ${localName}`);
  }
  return textContent ?? "";
}

function childrenOf(parent: Element, kind: string, name: string): readonly Element[] {
  const [namespace, own] = qualifiedName(name, kind);
  return [...parent.childNodes].filter((child): child is Element =>
    child.nodeType === child.ELEMENT_NODE && child.localName === own && child.namespaceURI === namespace
  );
}

function qualifiedName(name: string, kind: string): [namespace: string, own: string] {
  const [, namespace = kind, own = name] = /^\{(.+)\}(.+)$/.exec(name) ?? [];
  return [namespace, own];
}
