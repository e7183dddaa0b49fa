import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { MISSING_FILE, reportMissing } from '../support/missing.ts';
import sayWhatIsMissing from '../support/say-what-is-missing.ts';

it('says in one line, at the end, what was missing, each thing once', () => {
  const outer = process.env[MISSING_FILE];
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    const end = sayWhatIsMissing();
    for (const what of ['No b here: get it.', 'No a here: get it.', 'No b here: get it.'])
      reportMissing(what);
    expect(printed).not.toHaveBeenCalled();
    end();
    expect(printed.mock.calls).toEqual([['Some tests were skipped. No a here: get it. No b here: get it.']]);
    const complete = sayWhatIsMissing();
    complete();
    expect(printed).toHaveBeenCalledTimes(1);
  } finally {
    printed.mockRestore();
    process.env[MISSING_FILE] = outer;
  }
});

it('is reported by this very run', () => {
  expect(readFileSync(process.env[MISSING_FILE]!, 'utf8')).toBeTypeOf('string');
});
