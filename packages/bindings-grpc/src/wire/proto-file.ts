import { create } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  file_google_protobuf_empty,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt';
import type { Field, MessageType } from './message-types.ts';

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
  int64: FieldDescriptorProto_Type.INT64,
  enum: FieldDescriptorProto_Type.ENUM,
};

/** A file to describe: messages, enums and services that the tables have. */
export interface ProtoFile {
  readonly name: string;
  readonly package: string;
  readonly types: Readonly<Record<string, MessageType>>;
  readonly enums?: Readonly<Record<string, readonly string[]>>;
  readonly service: string;
  readonly methods: readonly ProtoMethod[];
}

/** A method of the service of a {@link ProtoFile}. */
export interface ProtoMethod {
  readonly name: string;
  readonly request: MessageType;
  readonly response: MessageType;
  readonly isStream?: boolean;
  readonly isClientStream?: boolean;
}

/** Files of Google that every table may use. */
export const wellKnownFiles = [
  file_google_protobuf_empty,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
].map(({ proto }) => proto);

/** Builds the descriptor of a file, for reflection and for protobuf libraries. */
export function descriptorOf(file: ProtoFile): FileDescriptorProto {
  const fullName = (typeName: string) => wellKnown[typeName] ?? `.${file.package}.${typeName}`;
  return create(FileDescriptorProtoSchema, {
    name: file.name,
    package: file.package,
    syntax: 'proto3',
    dependency: wellKnownFiles.map(({ name }) => name),
    messageType: Object.values(file.types).map((type) => toDescriptor(type, fullName)),
    enumType: Object.entries(file.enums ?? {}).map(([name, names]) => ({
      name,
      value: names.map((value, number) => ({ name: value, number })),
    })),
    service: [
      {
        name: file.service,
        method: file.methods.map(({ name, request, response, isStream, isClientStream }) => ({
          name,
          inputType: fullName(request.name),
          outputType: fullName(response.name),
          serverStreaming: isStream ?? false,
          clientStreaming: isClientStream ?? false,
        })),
      },
    ],
  });
}

type FullName = (typeName: string) => string;

function toDescriptor({ name, fields }: MessageType, fullName: FullName): DescriptorProto {
  const real = [...new Set(fields.flatMap(({ oneof }) => oneof ?? []))];
  // Explicit presence is a oneof of its own, which must come after the real ones.
  const optional = fields.filter(isOptional);
  const oneofs = [...real, ...optional.map((field) => `_${field.name}`)];
  return create(DescriptorProtoSchema, {
    name,
    field: fields.map((field) => toField(field, name, oneofs, fullName)),
    oneofDecl: oneofs.map((oneof) => ({ name: oneof })),
    nestedType: fields.filter(({ label }) => label === 'map').map((field) => toEntry(field, fullName)),
  });
}

const isOptional = ({ hasPresence, oneof, kind }: Field): boolean =>
  hasPresence && oneof === undefined && scalars[kind] !== undefined;

function toField(field: Field, message: string, oneofs: readonly string[], fullName: FullName) {
  const { name, number, jsonName, label, oneof } = field;
  const proto3Optional = isOptional(field);
  const inOneof = oneof ?? (proto3Optional ? `_${name}` : undefined);
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    jsonName,
    label: label === 'single' ? FieldDescriptorProto_Label.OPTIONAL : FieldDescriptorProto_Label.REPEATED,
    ...(label === 'map' ? entryType(field, fullName(message)) : typeOf(field, fullName)),
    ...(inOneof && { oneofIndex: oneofs.indexOf(inOneof) }),
    ...(proto3Optional && { proto3Optional }),
  });
}

const typeOf = ({ kind, typeName }: Field, fullName: FullName) =>
  kind === 'enum' || scalars[kind] === undefined
    ? { type: scalars[kind] ?? FieldDescriptorProto_Type.MESSAGE, typeName: fullName(typeName) }
    : { type: scalars[kind] };

const entryName = ({ name }: Field): string =>
  `${name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Entry`;

const entryType = (field: Field, message: string) => ({
  type: FieldDescriptorProto_Type.MESSAGE,
  typeName: `${message}.${entryName(field)}`,
});

const toEntry = (field: Field, fullName: FullName): DescriptorProto =>
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
        ...typeOf(field, fullName),
      },
    ],
  });
