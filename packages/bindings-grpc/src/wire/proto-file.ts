import { create, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import { a2aEnums } from './a2a-messages.ts';
import { a2aMethods, a2aServiceName, a2aTypes } from './a2a-service.ts';
import type { Field, MessageType } from './message-types.ts';

const packageName = 'lf.a2a.v1';

/** Messages of other files, by the names that the tables have for them. */
const wellKnown: Readonly<Record<string, string>> = {
  Empty: '.google.protobuf.Empty',
  Struct: '.google.protobuf.Struct',
  Value: '.google.protobuf.Value',
  Timestamp: '.google.protobuf.Timestamp',
};

const scalars: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
  bool: FieldDescriptorProto_Type.BOOL,
  int32: FieldDescriptorProto_Type.INT32,
  enum: FieldDescriptorProto_Type.ENUM,
};

/** Builds the descriptor of `a2a.proto` from the table, for reflection and for protobuf libraries. */
export const a2aFile = (): FileDescriptorProto =>
  create(FileDescriptorProtoSchema, {
    name: 'a2a.proto',
    package: packageName,
    syntax: 'proto3',
    dependency: ['empty', 'struct', 'timestamp'].map((name) => `google/protobuf/${name}.proto`),
    messageType: Object.values(a2aTypes).map(toDescriptor),
    enumType: Object.entries(a2aEnums).map(([name, names]) => ({
      name,
      value: names.map((value, number) => ({ name: value, number })),
    })),
    service: [
      {
        name: a2aServiceName.slice(packageName.length + 1),
        method: a2aMethods.map(({ operation, request, response, isStream }) => ({
          name: operation,
          inputType: fullName(request.name),
          outputType: fullName(response.name),
          serverStreaming: isStream,
        })),
      },
    ],
  });

/** The bytes of {@link a2aFile}. */
export const a2aFileBytes = (): Uint8Array => toBinary(FileDescriptorProtoSchema, a2aFile());

const fullName = (typeName: string): string => wellKnown[typeName] ?? `.${packageName}.${typeName}`;

function toDescriptor({ name, fields }: MessageType): DescriptorProto {
  const real = [...new Set(fields.flatMap(({ oneof }) => oneof ?? []))];
  // Explicit presence is a oneof of its own, which must come after the real ones.
  const optional = fields.filter(isOptional);
  const oneofs = [...real, ...optional.map((field) => `_${field.name}`)];
  return create(DescriptorProtoSchema, {
    name,
    field: fields.map((field) => toField(field, name, oneofs)),
    oneofDecl: oneofs.map((oneof) => ({ name: oneof })),
    nestedType: fields.filter(({ label }) => label === 'map').map(toEntry),
  });
}

const isOptional = ({ hasPresence, oneof, kind }: Field): boolean =>
  hasPresence && oneof === undefined && scalars[kind] !== undefined;

function toField(field: Field, message: string, oneofs: readonly string[]) {
  const { name, number, jsonName, label, oneof } = field;
  const proto3Optional = isOptional(field);
  const inOneof = oneof ?? (proto3Optional ? `_${name}` : undefined);
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    jsonName,
    label: label === 'single' ? FieldDescriptorProto_Label.OPTIONAL : FieldDescriptorProto_Label.REPEATED,
    ...(label === 'map' ? entryType(field, message) : typeOf(field)),
    ...(inOneof && { oneofIndex: oneofs.indexOf(inOneof) }),
    ...(proto3Optional && { proto3Optional }),
  });
}

const typeOf = ({ kind, typeName }: Field) =>
  kind === 'enum' || scalars[kind] === undefined
    ? { type: scalars[kind] ?? FieldDescriptorProto_Type.MESSAGE, typeName: fullName(typeName) }
    : { type: scalars[kind] };

const entryName = ({ name }: Field): string =>
  `${name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Entry`;

const entryType = (field: Field, message: string) => ({
  type: FieldDescriptorProto_Type.MESSAGE,
  typeName: `${fullName(message)}.${entryName(field)}`,
});

const toEntry = (field: Field): DescriptorProto =>
  create(DescriptorProtoSchema, {
    name: entryName(field),
    options: { mapEntry: true },
    field: [
      {
        name: 'key',
        jsonName: 'key',
        number: 1,
        label: FieldDescriptorProto_Label.OPTIONAL,
        type: FieldDescriptorProto_Type.STRING,
      },
      {
        name: 'value',
        jsonName: 'value',
        number: 2,
        label: FieldDescriptorProto_Label.OPTIONAL,
        ...typeOf(field),
      },
    ],
  });
