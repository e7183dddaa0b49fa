import { isObject } from '@batonjs/protocol/json';
import type { ReportLoss } from './loss.ts';

/**
 * What a peer writes into the field for the bytes of a file, on HTTP+JSON and gRPC: the `bytes`, as the proto has them, or
 * their base64 text (`base64`), as the SDKs for Python and Go do. In JSON such a file is base64 twice.
 */
export type FileBytes = 'bytes' | 'base64';

/** How a peer writes, and who is told of losses. */
export interface Way {
  readonly report: ReportLoss;
  /** Reads every spelling that peers of 0.3 use. Otherwise, that of the specification alone. */
  readonly isLenient?: boolean;
  /** The peer has the JSON of the protocol buffers: `content`, `ROLE_USER`, wrapped events. */
  readonly isProto?: boolean;
  /** `guess`: by the file itself, as nothing is known of the peer. Without it, files are their bytes. */
  readonly files?: FileBytes | 'guess';
  /** Nothing follows in this stream. By default, it is whether the task ended. */
  readonly isLast?: boolean;
}

/**
 * One kind of object in both versions. Neither function changes its argument.
 *
 * `decode` takes whatever a peer sent. What it cannot read stays as it is, so that validation reports it. It throws for a
 * result without which nothing makes sense. `encode` takes valid values.
 */
export interface Codec<Older, Newer> {
  /** From 0.3 to 1.0. */
  decode(older: unknown, way: Way, path: string): Newer;
  /** From 1.0 to 0.3. With `isProto`, the JSON of the protocol buffers instead of an `Older`. */
  encode(newer: Newer, way: Way, path: string): Older;
}

interface Functions<Older, Newer> {
  decode(older: Older, way: Way, path: string): unknown;
  encode(newer: Newer, way: Way, path: string): unknown;
}

/**
 * Makes a codec of objects. `decode` gets objects only, if lenient without null and with the names of JSON. The types of
 * its argument and of both results are what valid values have: the properties in `test/translation` hold them.
 */
export const codec = <Older, Newer>({ decode, encode }: Functions<Older, Newer>): Codec<Older, Newer> => ({
  decode: (given, way, path) =>
    (isObject(given) ? decode((way.isLenient ? present(given) : given) as Older, way, path) : given) as Newer,
  encode: (newer, way, path) => encode(newer, way, path) as Older,
});

/** What an object of 0.3 has in another way than that of 1.0. Other members are the same. */
interface ObjectRules<Newer> {
  /** Its `kind` in 0.3. */
  readonly kind?: string;
  readonly members: { readonly [Name in keyof Newer]?: Codec<unknown, unknown> };
  /** Other names that peers use for a member, each with that of 1.0. */
  readonly spellings?: Readonly<Record<string, string>>;
  /** Gives the encoded members their names in 0.3, and adds what only 0.3 has. */
  write?(older: Loose, newer: Newer, way: Way, path: string): Loose;
}

/** The codec of an object by its members. */
export function object<Older, Newer extends Loose>(rules: ObjectRules<Newer>): Codec<Older, Newer> {
  const { kind, write } = rules;
  const spellings = Object.entries(rules.spellings ?? {});
  const members = Object.entries<Codec<unknown, unknown> | undefined>(rules.members);
  return codec<Older, Newer>({
    decode(given, way, path) {
      const older: Loose = Object(given);
      const named = way.isLenient ? spelled(older, spellings) : older;
      // 1.0 has neither: a stream ends after its last event.
      const { kind: _, final: __, ...rest } = named;
      const newer: Record<string, unknown> = rest;
      for (const [name, member] of members) {
        const decoded = member?.decode(newer[name], way, at(path, name));
        if (decoded !== undefined) newer[name] = decoded;
        else if (name in newer) delete newer[name];
      }
      return newer;
    },
    encode(newer, way, path) {
      const older: Record<string, unknown> = kind && !way.isProto ? { kind, ...newer } : { ...newer };
      for (const [name, member] of members)
        if (older[name] !== undefined) older[name] = member?.encode(older[name], way, at(path, name));
      return write ? write(older, newer, way, path) : older;
    },
  });
}

function spelled(given: Loose, spellings: readonly [string, string][]): Loose {
  let named = given;
  for (const [spelling, name] of spellings) {
    if (!(spelling in named)) continue;
    const { [spelling]: member, ...rest } = named;
    named = { [name]: member, ...rest };
  }
  return named;
}

/** The codec of a list by that of its elements. */
export const list = <Older, Newer>(
  element: Codec<Older, Newer>,
): Codec<Older[] | undefined, Newer[] | undefined> => ({
  decode: (given, way, path) =>
    Array.isArray(given)
      ? given.map((one, n) => element.decode(one, way, at(path, n)))
      : (given as undefined),
  encode: (given, way, path) => given?.map((one, n) => element.encode(one, way, at(path, n))),
});

/** The codec of an object that a result cannot do without: `decode` throws without it. */
export const required = <Older, Newer>({ decode, encode }: Codec<Older, Newer>): Codec<Older, Newer> => ({
  encode,
  decode(given, way, path) {
    if (!isObject(given)) throw new TypeError(`${path} is no object`);
    return decode(given, way, path);
  },
});

export { compact } from '@batonjs/protocol/json';

/** A JSON object before its members are checked. */
export type Loose = Readonly<Record<string, unknown>>;

/** The first of these that is a text with letters, or else the first that is a text. */
export const text = (...candidates: unknown[]): string | undefined => {
  const texts = candidates.filter((candidate) => typeof candidate === 'string');
  return texts.find((candidate) => candidate !== '') ?? texts[0];
};

export const at = (path: string, member: string | number): string =>
  typeof member === 'number' ? `${path}[${member}]` : path === '' ? member : `${path}.${member}`;

const isSpelled = (name: string, member: unknown) =>
  member !== null && member !== undefined && !name.includes('_');

/**
 * The object without members that are null or undefined, by their names in JSON: `task_id` is `taskId`. For `parts`, null
 * stands for an empty list.
 */
export function present(value: Loose): Loose {
  if (Object.entries(value).every(([name, member]) => isSpelled(name, member))) return value;
  const members: Record<string, unknown> = {};
  for (const [given, member] of Object.entries(value)) {
    if (member === null && given === 'parts') members.parts = [];
    if (member === null || member === undefined) continue;
    const name = given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    // Of two spellings of a member, that of JSON counts.
    if (name === given || (value[name] ?? undefined) === undefined) members[name] = member;
  }
  return members;
}
