import { it, vi } from 'vitest';

it('a spy on a clock', () => {
  vi.spyOn(performance, 'now');
});

it('fake timers', () => {
  vi.useFakeTimers();
});

it('a stub of a global', () => {
  vi.stubGlobal('fetch', undefined);
});

it('a stub of the environment', () => {
  vi.stubEnv('LEFT_BY_EXAMPLE', 'yes');
});
