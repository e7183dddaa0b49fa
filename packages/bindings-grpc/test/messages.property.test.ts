import { a2aEnums, a2aMessages } from '@batonjs/protocol/proto-messages';
import { fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { a2aTypes } from '../src/wire/a2a-service.ts';
import { decodeMessage } from '../src/wire/decode-message.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import { messageTypes } from '../src/wire/message-types.ts';
import { goldenRegistry } from './golden-registry.ts';
import { anyValueOf } from './values.ts';

const registry = goldenRegistry('lf.a2a.v1');

describe.each(Object.values(a2aTypes))('$name', (type) => {
  const value = anyValueOf(type);

  it('is decoded to what was encoded (R-GRPC-02)', () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(decodeMessage(type, encodeMessage(type, given))).toEqual(given);
      }),
      { numRuns: repetitions(20, 60) },
    );
  });
});

describe.each(Object.values(messageTypes(a2aMessages, a2aEnums)))('$name, as it is released,', (type) => {
  const value = anyValueOf(type);

  it('has the bytes that protobuf-es reads and writes from the descriptor (R-GRPC-111)', () => {
    const descriptor = registry.getMessage(`lf.a2a.v1.${type.name}`)!;
    fc.assert(
      fc.property(value, (given) => {
        const theirs = fromJson(descriptor, given as JsonValue);
        expect(fromBinary(descriptor, encodeMessage(type, given))).toEqual(theirs);
        expect(decodeMessage(type, toBinary(descriptor, theirs))).toEqual(given);
      }),
      { numRuns: repetitions(20, 60) },
    );
  });
});
