import { isObject } from '@batonjs/protocol/json';
import { a2aMessages, protoFields } from '@batonjs/protocol/proto-messages';
import canonicalize from 'canonicalize';

/** The texts of a card that a signature can cover. Throws the error of `canonicalize` for a card that is not JSON. */
export function cardPayload(card: unknown) {
  const { signatures, ...signed } = card as Record<string, unknown>;
  const found: Found = { unknown: [], empty: [] };
  const spec = project({ message: cardShape }, signed, '', found);
  return {
    /** The canonical text by the specification's rules for default values. Spec: §8.4.1. */
    spec: canonicalize(spec) ?? '',
    /** The text that the official SDKs sign. It leaves out every empty string, list and object. */
    sdk: canonicalize(withoutEmpty(spec) ?? {}) ?? '',
    /** Paths of members that A2A 1.0 does not define. No signature covers them. */
    unknown: found.unknown,
    /** Paths of security members that the SDKs' text leaves out, such as a scheme without scopes. */
    missingInSdk: found.empty.filter((path) => /(^|\.)security(Schemes|Requirements)\b/.test(path)),
  };
}

interface Found {
  readonly unknown: string[];
  /** Paths of empty list elements, map members and messages. They have a meaning although they are empty. */
  readonly empty: string[];
}

/** The signed part of a value. A value of an unexpected kind is signed unchanged. */
function project(kind: Kind, value: unknown, path: string, found: Found): unknown {
  if (typeof kind === 'string') return value;
  const present = (of: Kind, item: unknown, at: string) => {
    const projected = project(of, item, at, found);
    if (withoutEmpty(projected) === undefined) found.empty.push(at);
    return projected;
  };
  if ('list' in kind) {
    if (!Array.isArray(value)) return value;
    return value.map((item, index) => present(kind.list, item, `${path}[${index}]`));
  }
  if (!isObject(value)) return value;
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  // `Object.fromEntries` also copies a member named `__proto__`.
  if ('map' in kind) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, present(kind.map, item, below(name))]),
    );
  }
  for (const name of Object.keys(value))
    if (!Object.hasOwn(kind.message, name)) found.unknown.push(below(name));
  return Object.fromEntries(
    membersOf(kind.message, value).map(([name, of, item]) => [
      name,
      (isMessage(of) ? present : project)(of, item, below(name), found),
    ]),
  );
}

/** The signed members. Missing members that are always signed get their default. */
const membersOf = (shape: Shape, value: Readonly<Record<string, unknown>>): [string, Kind, unknown][] =>
  Object.entries(shape).flatMap(([name, [presence, kind]]) => {
    const item = Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
    if (item === undefined) return presence === 'always' ? [[name, kind, defaultOf(kind)]] : [];
    return presence === 'ifMore' && isDefault(kind, item) ? [] : [[name, kind, item]];
  });

const isMessage = (kind: Kind): boolean => typeof kind === 'object' && 'message' in kind;

function defaultOf(kind: Kind): unknown {
  if (kind === 'text') return '';
  if (kind === 'flag') return false;
  return typeof kind === 'object' && 'list' in kind ? [] : {};
}

const isDefault = (kind: Kind, value: unknown): boolean =>
  canonicalize(value) === canonicalize(defaultOf(kind));

/** The value without empty members; undefined if nothing is left. */
function withoutEmpty(value: unknown): unknown {
  if (value === '' || value === null) return undefined;
  if (Array.isArray(value)) {
    const kept = value.map(withoutEmpty).filter((item) => item !== undefined);
    return kept.length > 0 ? kept : undefined;
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value)
    .map(([name, item]) => [name, withoutEmpty(item)] as const)
    .filter(([, item]) => item !== undefined);
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** The type of a member of a card. `json` is free JSON, which is signed unchanged. */
type Kind =
  | 'text'
  | 'flag'
  | 'json'
  | { readonly message: Shape }
  | { readonly list: Kind }
  | { readonly map: Kind };

/**
 * When a member is signed: `always`, with its default if it is missing; `ifSet`, if present, even with its default;
 * `ifMore`, only if it differs from its default. Spec: §8.4.1.
 */
export type Presence = 'always' | 'ifSet' | 'ifMore';

/** The members of a message, by name. */
export type Shape = Readonly<Record<string, readonly [presence: Presence, kind: Kind]>>;

const plain: Readonly<Record<string, Kind>> = { string: 'text', bool: 'flag', Struct: 'json' };

function shapeOf(message: keyof typeof a2aMessages): Shape {
  const members = protoFields(message, a2aMessages[message]).map(
    ({ jsonName, typeName, label, isRequired, isOptional, oneof }) => {
      const each = plain[typeName] ?? { message: shapeOf(typeName as keyof typeof a2aMessages) };
      const kind = label === 'list' ? { list: each } : label === 'map' ? { map: each } : each;
      // A message, and free JSON, which is one in the proto, has presence by itself.
      const hasPresence = isOptional || oneof !== undefined || (label === 'single' && !isValue(each));
      return [jsonName, [isRequired ? 'always' : hasPresence ? 'ifSet' : 'ifMore', kind]] as const;
    },
  );
  return Object.fromEntries(members);
}

const isValue = (kind: Kind): boolean => kind === 'text' || kind === 'flag';

const { signatures: _, ...signed } = shapeOf('AgentCard');

/** The members of a card that a signature covers: all of A2A 1.0 except `signatures`. Spec: §4.4.1, §8.4.1. */
export const cardShape: Shape = signed;
