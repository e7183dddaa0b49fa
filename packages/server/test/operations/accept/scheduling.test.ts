import { SCHEDULING } from '@batonjs/protocol/headers';
import { describe, expect, it } from 'vitest';
import { say } from '../../../../../test/kit/rpc.ts';
import { schedulingOf } from '../../../src/operations/accept/receive.ts';
import type { CallContext } from '../../../src/operations/call/call-context.ts';

const now = Date.parse('2026-01-01T00:00:00.000Z');
const scheduling = (metadata: unknown, extensions: readonly string[] = [SCHEDULING]) =>
  schedulingOf(
    say('go', { metadata: { [SCHEDULING]: metadata } as never }),
    { extensions } as unknown as CallContext,
    now,
    60_000,
  );

describe('the scheduling that a message asks for', () => {
  it.each<[unknown, object]>([
    [undefined, {}],
    [{}, {}],
    [{ priority: 0 }, {}],
    [{ priority: 1 }, { priority: 1 }],
    [{ priority: 9 }, { priority: 9 }],
    [{ notBefore: '2026-01-01T00:00:00Z' }, {}],
    [{ notBefore: '2025-12-31T23:59:59.999Z' }, {}],
    [{ notBefore: '2026-01-01T00:00:00.001Z' }, { notBefore: '2026-01-01T00:00:00.001Z' }],
    [{ notBefore: '2026-01-01T02:00:01.5+02:00' }, { notBefore: '2026-01-01T00:00:01.500Z' }],
    [
      { notBefore: '2026-01-01T00:01:00Z', priority: 3 },
      { notBefore: '2026-01-01T00:01:00.000Z', priority: 3 },
    ],
  ])('%j is %j', (metadata, expected) => {
    expect(scheduling(metadata)).toEqual(expected);
    expect(scheduling(metadata, [])).toEqual({});
  });

  it('is none where there is no metadata', () => {
    expect(schedulingOf(say('go'), { extensions: [SCHEDULING] } as unknown as CallContext, now, 1)).toEqual(
      {},
    );
  });

  const noTime = 'must be a time as in RFC 3339, in UTC or with its offset';
  const noPriority = 'must be a whole number from 0 to 9';
  it.each<[unknown, string, string]>([
    [null, '', 'must be an object'],
    [[], '', 'must be an object'],
    ['x', '', 'must be an object'],
    [{ notBefore: 7 }, '.notBefore', noTime],
    [{ notBefore: '2026-01-01' }, '.notBefore', noTime],
    [{ notBefore: '2026-01-01T00:00:00' }, '.notBefore', noTime],
    [{ notBefore: '2026-13-01T00:00:00Z' }, '.notBefore', noTime],
    [{ notBefore: 'x2026-01-01T00:00:00Z' }, '.notBefore', noTime],
    [{ notBefore: '2026-01-01T00:00:00Zx' }, '.notBefore', noTime],
    [
      { notBefore: '2026-01-01T00:01:00.001Z' },
      '.notBefore',
      'must not be later than 2026-01-01T00:01:00.000Z',
    ],
    [{ priority: -1 }, '.priority', noPriority],
    [{ priority: 10 }, '.priority', noPriority],
    [{ priority: 1.5 }, '.priority', noPriority],
    [{ priority: '1' }, '.priority', noPriority],
    [{ priority: null }, '.priority', noPriority],
  ])('%j is refused: %s', (metadata, member, description) => {
    const field = `message.metadata["${SCHEDULING}"]${member}`;
    expect(() => scheduling(metadata)).toThrow(
      expect.objectContaining({
        reason: 'INVALID_PARAMS',
        details: [expect.objectContaining({ fieldViolations: [{ field, description }] })],
      }),
    );
  });
});
