import canonicalize from 'canonicalize';
import { cardShape, type Kind, type Shape } from './card-shape.ts';

/** A card as it is signed. */
export interface CardPayload {
  /** The canonical text by the specification's rules of presence. Spec: §8.4.1. */
  readonly spec: string;
  /** The text that the official SDKs make of it: no empty string, list or object anywhere. */
  readonly sdk: string;
  /** Paths of members that no signature covers, because A2A 1.0 does not know them. */
  readonly unknown: readonly string[];
  /** Paths of what the card says about security that is missing in the SDKs' text, such as a scheme without scopes. */
  readonly missingInSdk: readonly string[];
}

/** The canonical texts of a card. Throws what `canonicalize` throws for a card that is no JSON. */
export function cardPayload(card: unknown): CardPayload {
  const { signatures, ...signed } = card as Record<string, unknown>;
  const found: Found = { unknown: [], empty: [] };
  const spec = project({ message: cardShape }, signed, '', found);
  return {
    spec: canonicalize(spec) ?? '',
    sdk: canonicalize(withoutEmpty(spec) ?? {}) ?? '',
    unknown: found.unknown,
    missingInSdk: found.empty.filter((path) => /(^|\.)security(Schemes|Requirements)\b/.test(path)),
  };
}

interface Found {
  readonly unknown: string[];
  /** Paths of elements, of members of maps and of messages that hold nothing, and yet say something by being there. */
  readonly empty: string[];
}

/** What is signed of a value. A value of another kind than expected is signed as it is. */
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
  // fromEntries, because a member may be called `__proto__`.
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

/** The members that are signed, with the default of those that always are. */
function membersOf(shape: Shape, value: Readonly<Record<string, unknown>>): [string, Kind, unknown][] {
  return Object.entries(shape).flatMap(([name, [presence, kind]]) => {
    const item = Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
    if (item === undefined) return presence === 'always' ? [[name, kind, defaultOf(kind)]] : [];
    return presence === 'ifMore' && isDefault(kind, item) ? [] : [[name, kind, item]];
  });
}

const isMessage = (kind: Kind): boolean => typeof kind === 'object' && 'message' in kind;

function defaultOf(kind: Kind): unknown {
  if (kind === 'text') return '';
  if (kind === 'flag') return false;
  return typeof kind === 'object' && 'list' in kind ? [] : {};
}

const isDefault = (kind: Kind, value: unknown): boolean =>
  canonicalize(value) === canonicalize(defaultOf(kind));

/** Undefined for whatever is empty, or only holds what is. */
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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
