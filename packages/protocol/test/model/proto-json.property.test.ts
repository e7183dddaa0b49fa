import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SendMessageRequest } from '../../src/model/messages.ts';
import { StreamResponse } from '../../src/model/tasks.ts';
import { parseParams } from '../../src/parse-params.ts';
import { sendMessageRequest, spellLoosely, streamResponse } from '../arbitraries.ts';

describe('parsing', () => {
  it('changes nothing that is canonical', () => {
    fc.assert(
      fc.property(sendMessageRequest, (request) => {
        expect(parseParams('SendMessage', request)).toEqual(request);
      }),
    );
    fc.assert(
      fc.property(streamResponse, (event) => {
        expect(StreamResponse.parse(event)).toEqual(event);
      }),
    );
  });

  it('is stable: what it makes of any spelling, it makes of its own output', () => {
    fc.assert(
      fc.property(
        fc.oneof(sendMessageRequest, fc.anything()),
        fc.infiniteStream(fc.nat(3)),
        (value, choices) => {
          const spelled = typeof value === 'object' ? spellLoosely(value, choices) : value;
          const first = SendMessageRequest.safeParse(spelled);
          if (!first.success) return;
          const again = SendMessageRequest.parse(JSON.parse(JSON.stringify(first.data)));
          expect(again).toEqual(first.data);
        },
      ),
    );
  });

  it('makes every spelling that ProtoJSON allows canonical [R-JSON-03, R-JSON-04]', () => {
    fc.assert(
      fc.property(sendMessageRequest, fc.infiniteStream(fc.nat(3)), (request, choices) => {
        expect(parseParams('SendMessage', spellLoosely(request, choices))).toEqual(request);
      }),
    );
  });

  it('never throws anything but INVALID_PARAMS, whatever arrives', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (value) => {
        try {
          parseParams('SendMessage', value);
        } catch (error) {
          expect(error).toMatchObject({ reason: 'INVALID_PARAMS' });
        }
      }),
    );
  });
});
