import { it, vi } from 'vitest';

it('may replace the timers of its own process', () => {
  vi.useFakeTimers();
});
