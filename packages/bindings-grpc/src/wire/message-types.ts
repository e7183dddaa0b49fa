import { type ProtoField, protoFields } from '@batonjs/protocol/proto-messages';
import { WireType } from '@bufbuild/protobuf/wire';

const plainKinds = ['string', 'bytes', 'bool', 'int32', 'int64', 'Struct', 'Value', 'Timestamp'] as const;

/** What the value of a field is; `message` and `enum` name their type beside it. */
export type FieldKind = (typeof plainKinds)[number] | 'enum' | 'message';

/** One field of a message. A required one that is missing is read as its default value. */
export interface Field extends Omit<ProtoField, 'isOptional'> {
  readonly kind: FieldKind;
  /** Whether a default value is written, because its absence means something else. */
  readonly hasPresence: boolean;
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

const wireTypes: Readonly<Partial<Record<FieldKind, WireType>>> = {
  bool: WireType.Varint,
  int32: WireType.Varint,
  int64: WireType.Varint,
  enum: WireType.Varint,
};

/** Reads a table of messages. Throws `TypeError` for a row that it cannot read, and for a type that it does not have. */
export function messageTypes<Name extends string>(
  table: Readonly<Record<Name, string>>,
  enums: Readonly<Record<string, readonly string[]>> = {},
): MessageTypes<Name> {
  const types: Record<string, MessageType> = {};
  const open: { -readonly [Key in keyof Field]: Field[Key] }[] = [];
  for (const [name, text] of Object.entries<string>(table)) {
    const fields = protoFields(name, text).map((field) => fieldOf(field, enums));
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
    field.message = types[field.typeName];
    if (!field.message) throw new TypeError(`No table has the type ${field.typeName} of ${field.name}`);
  }
  return types as MessageTypes<Name>;
}

/** Whether a field of this kind is length-delimited and has presence by itself. */
const isMessage = (kind: FieldKind): boolean =>
  kind === 'message' || kind === 'Struct' || kind === 'Value' || kind === 'Timestamp';

function fieldOf({ isOptional, ...field }: ProtoField, enums: Readonly<Record<string, readonly string[]>>) {
  const { number, typeName, label, oneof } = field;
  const names = enums[typeName];
  const kind = names ? 'enum' : (plainKinds.find((plain) => plain === typeName) ?? 'message');
  const wireType = label === 'map' ? WireType.LengthDelimited : (wireTypes[kind] ?? WireType.LengthDelimited);
  return {
    ...field,
    kind,
    hasPresence: isOptional || oneof !== undefined || isMessage(kind),
    tag: (number << 3) | wireType,
    message: undefined as MessageType | undefined,
    names,
  } as const;
}
