import { createFileRegistry, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import {
  file_google_protobuf_empty,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { a2aTypes } from '../src/wire/a2a-service.ts';
import { decodeMessage } from '../src/wire/decode-message.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import { a2aFile } from '../src/wire/proto-file.ts';
import { valueOf } from './values.ts';

const known = [file_google_protobuf_empty, file_google_protobuf_struct, file_google_protobuf_timestamp];
const registry = createFileRegistry(a2aFile(), (name) => known.find(({ proto }) => proto.name === name));
const descriptorOf = (name: string): DescMessage => registry.getMessage(`lf.a2a.v1.${name}`)!;

describe.each(Object.values(a2aTypes))('$name', (type) => {
  const value = valueOf(type);

  it('is decoded to what was encoded (R-GRPC-02)', () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(decodeMessage(type, encodeMessage(type, given))).toEqual(given);
      }),
      { numRuns: 60 },
    );
  });

  it('has the bytes that protobuf-es reads and writes from the descriptor (R-GRPC-111)', () => {
    const descriptor = descriptorOf(type.name);
    fc.assert(
      fc.property(value, (given) => {
        const theirs = fromJson(descriptor, given as JsonValue);
        expect(fromBinary(descriptor, encodeMessage(type, given))).toEqual(theirs);
        expect(decodeMessage(type, toBinary(descriptor, theirs))).toEqual(given);
      }),
      { numRuns: 60 },
    );
  });
});
