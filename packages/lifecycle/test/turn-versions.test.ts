import { expect, it } from 'vitest';
import { create, given, receive } from './given.ts';

it('each attempt of a turn records the version that runs it, if it has one', () => {
  const start = (version?: string) => ({ type: 'start-turn', version }) as const;
  const log = given(receive('m1'), create, start('v1'), start('v2'));
  expect(log.now.openTurn).toMatchObject({ attempt: 2, version: 'v2' });
  const started = log.facts.filter(({ type }) => type === 'turn-started');
  expect(started).toMatchObject([{ version: 'v1' }, { version: 'v2' }]);
  const plain = given(receive('m1'), create, start());
  expect(plain.now.openTurn).not.toHaveProperty('version');
  expect(plain.facts.at(-1)).not.toHaveProperty('version');
});
