import { UnknownFactError } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import { StoreError } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { toWireError } from '../../../src/operations/call/wire-error.ts';

/** The error of the wire, and what is logged. */
function wired(error: unknown, details: Record<string, unknown> = { requestId: 'r' }) {
  const lines: unknown[][] = [];
  const wire = toWireError(error, (...line) => void lines.push(line), details);
  return { wire, lines };
}

describe('the error that a client gets', () => {
  it.each(['FENCED', 'VERSION_CONFLICT', 'UNAVAILABLE', 'UNUSABLE'] as const)(
    'for %s of the store says when to try again, and which task it is about',
    (code) => {
      const cause = new StoreError(code, 'hunter2');
      const { wire, lines } = wired(cause, { requestId: 'r', taskId: 't' });
      expect(wire).toMatchObject({ reason: 'UNAVAILABLE', retryAfter: 1, metadata: { taskId: 't' }, cause });
      expect(wire.message).not.toContain('hunter2');
      const level = code === 'UNAVAILABLE' || code === 'UNUSABLE' ? 'info' : 'error';
      expect(lines).toEqual([
        [level, 'The store is not available', { requestId: 'r', taskId: 't', error: cause }],
      ]);
      expect(wired(cause).wire.metadata).toBeUndefined();
    },
  );

  it('for lost facts is not logged: that was done when they were missed', () => {
    const { wire, lines } = wired(new StoreError('LOG_DIVERGED', 'x'));
    expect(wire).toMatchObject({
      ...{ reason: 'UNAVAILABLE', message: 'Some of what happened to the task was lost: get it again' },
    });
    expect(lines).toEqual([]);
  });

  it('for a task that was deleted is that there is none, and nothing is logged', () => {
    const { wire, lines } = wired(new StoreError('LOG_DELETED', 'x'), { taskId: 't' });
    expect(wire).toMatchObject({ reason: 'TASK_NOT_FOUND', metadata: { taskId: 't' } });
    expect(lines).toEqual([]);
  });

  it('for facts of a newer release says so', () => {
    const error = new UnknownFactError('x');
    const { wire, lines } = wired(error);
    expect(wire).toMatchObject({
      ...{ reason: 'UNAVAILABLE', message: 'The task was written by a newer release of this server' },
      cause: error,
    });
    expect(lines).toEqual([['error', 'A task was written by a newer release', { requestId: 'r', error }]]);
  });

  it('for any other says nothing', () => {
    const error = new StoreError('UNREADABLE', 'hunter2');
    const { wire, lines } = wired(error);
    expect([wire.reason, wire.message.includes('hunter2')]).toEqual(['INTERNAL_ERROR', false]);
    expect(lines).toEqual([['error', 'A request failed', { requestId: 'r', error }]]);
    // On its way to the client it passes through here again.
    expect(wired(wire)).toEqual({ wire, lines: [] });
  });

  it('is one already: its cause is logged once, if the fault is of the server', () => {
    const cause = new Error('why');
    const inside = new A2AError('INTERNAL_ERROR', 'x', { cause });
    expect(wired(inside)).toEqual({
      wire: inside,
      lines: [['error', 'A request failed', { requestId: 'r', error: inside }]],
    });
    expect(wired(inside).lines).toEqual([]);
    const ofClient = new A2AError('INVALID_PARAMS', 'x', { cause });
    expect(wired(ofClient)).toEqual({ wire: ofClient, lines: [] });
    expect(wired(new A2AError('INTERNAL_ERROR', 'x')).lines).toEqual([]);
  });
});
