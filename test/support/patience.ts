import { vi } from 'vitest';
import './shared-process/stable-urls.ts';

/**
 * Before each test file: `vi.waitFor` and `vi.waitUntil` fail after 30 s, or later where a test says so, not after one second:
 * a busy machine gets its time.
 */
const timeout = 30_000;
const patient = Symbol.for('baton.patient');

interface Waiting {
  waitFor: typeof vi.waitFor;
  waitUntil: typeof vi.waitUntil;
  [patient]?: true;
}

const waiting = vi as Waiting;
if (!waiting[patient]) {
  const { waitFor, waitUntil } = waiting;
  const optionsOf = (given: number | { readonly timeout?: number } = {}) => {
    const options = typeof given === 'number' ? { timeout: given } : given;
    return { ...options, timeout: Math.max(timeout, options.timeout ?? 0) };
  };
  waiting.waitFor = (check, options) => waitFor(check, optionsOf(options));
  waiting.waitUntil = (check, options) => waitUntil(check, optionsOf(options));
  waiting[patient] = true;
}
