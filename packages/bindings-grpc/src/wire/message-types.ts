import { WireType } from '@bufbuild/protobuf/wire';

/** What the value of a field is; `message` and `enum` name their type beside it. */
export type FieldKind =
  | 'string'
  | 'bytes'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'enum'
  | 'message'
  | 'Struct'
  | 'Value'
  | 'Timestamp';

/** One field of a message. */
export interface Field {
  readonly number: number;
  /** As in the proto: `context_id`. */
  readonly name: string;
  /** As in JSON: `contextId`. */
  readonly jsonName: string;
  readonly kind: FieldKind;
  /** The name of the message or enum, as the table has it. */
  readonly typeName: string;
  readonly label: 'single' | 'list' | 'map';
  /** Marked REQUIRED by the specification: a missing one is read as its default value. */
  readonly isRequired: boolean;
  /** Whether a default value is written, because its absence means something else. */
  readonly hasPresence: boolean;
  /** The oneof that the field belongs to. */
  readonly oneof: string | undefined;
  /** Number and wire type, as on the wire. A map's entries are messages. */
  readonly tag: number;
  /** Of a `message`. Set when all messages of the table are there. */
  readonly message: MessageType | undefined;
  /** Of an `enum`: the names in the order of their numbers. */
  readonly names: readonly string[] | undefined;
}

/** One message: its fields in the order of the table. */
export interface MessageType {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly byTag: ReadonlyMap<number, Field>;
  readonly required: readonly Field[];
}

/** The messages of a table, by their names. */
export type MessageTypes<Name extends string> = Readonly<Record<Name, MessageType>>;

const row = /^(\d+) (\w+) ([\w.]+)(\[\]|\{\})?([*?])?(?:@(\w+))?$/;

const wireTypes: Readonly<Partial<Record<FieldKind, WireType>>> = {
  bool: WireType.Varint,
  int32: WireType.Varint,
  int64: WireType.Varint,
  enum: WireType.Varint,
};

const plainKinds: ReadonlySet<string> = new Set([
  'string',
  'bytes',
  'bool',
  'int32',
  'int64',
  'Struct',
  'Value',
  'Timestamp',
]);

/**
 * Reads a table of messages. `others` are messages of other tables, by the names that this table has for them. Throws
 * `TypeError` for a row that it cannot read, and for a type that no table has.
 */
export function messageTypes<Name extends string>(
  table: Readonly<Record<Name, string>>,
  enums: Readonly<Record<string, readonly string[]>> = {},
  others: Readonly<Record<string, MessageType>> = {},
): MessageTypes<Name> {
  const types: Record<string, MessageType> = {};
  const open: { -readonly [Key in keyof Field]: Field[Key] }[] = [];
  for (const [name, text] of Object.entries<string>(table)) {
    const fields = text === '' ? [] : text.split(', ').map((line) => fieldOf(name, line, enums));
    open.push(...fields);
    types[name] = {
      name,
      fields,
      byTag: new Map(fields.map((field) => [field.tag, field])),
      required: fields.filter(
        ({ isRequired, kind, label }) => isRequired && !(isMessage(kind) && label === 'single'),
      ),
    };
  }
  for (const field of open) {
    if (field.kind !== 'message') continue;
    field.message = types[field.typeName] ?? others[field.typeName];
    if (!field.message) throw new TypeError(`No table has the type ${field.typeName} of ${field.name}`);
  }
  return types as MessageTypes<Name>;
}

/** Whether a field of this kind is length-delimited and has presence by itself. */
const isMessage = (kind: FieldKind): boolean =>
  kind === 'message' || kind === 'Struct' || kind === 'Value' || kind === 'Timestamp';

function fieldOf(message: string, line: string, enums: Readonly<Record<string, readonly string[]>>) {
  const [, digits, name, typeName, list, mark, oneof] = row.exec(line) ?? [];
  if (!name || !typeName) throw new TypeError(`No field of ${message} is written like "${line}"`);
  const number = Number(digits);
  const names = enums[typeName];
  const kind = names ? 'enum' : plainKinds.has(typeName) ? (typeName as FieldKind) : 'message';
  const label = list === '[]' ? 'list' : list === '{}' ? 'map' : 'single';
  const wireType = label === 'map' ? WireType.LengthDelimited : (wireTypes[kind] ?? WireType.LengthDelimited);
  return {
    number,
    name,
    jsonName: name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    kind,
    typeName,
    label,
    isRequired: mark === '*',
    hasPresence: mark === '?' || oneof !== undefined || isMessage(kind),
    oneof,
    tag: (number << 3) | wireType,
    message: undefined as MessageType | undefined,
    names,
  } as const;
}
