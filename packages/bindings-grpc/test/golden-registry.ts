import { readFileSync } from 'node:fs';
import { createFileRegistry, fromJson } from '@bufbuild/protobuf';
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_empty,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt';

const wellKnown = [file_google_protobuf_empty, file_google_protobuf_struct, file_google_protobuf_timestamp];

/** The messages, enums and services of a package, from its descriptor in the golden files. */
export function goldenRegistry(name: string) {
  const json = readFileSync(new URL(`./golden/descriptor.${name}.json`, import.meta.url), 'utf8');
  return createFileRegistry(fromJson(FileDescriptorProtoSchema, JSON.parse(json)), (file) =>
    wellKnown.map(({ proto }) => proto).find((known) => known.name === file),
  );
}
