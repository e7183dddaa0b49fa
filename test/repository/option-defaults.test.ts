import { describe, expect, it } from 'vitest';
import { allOptions } from '../../docs/.vitepress/tables.ts';
import { sourceFiles } from './source-files.ts';

describe('the defaults in docstrings of options', () => {
  const code = sourceFiles('packages/server/src')
    .map(({ text }) => text.replaceAll(/\/\*[\s\S]*?\*\//g, ''))
    .join('\n');
  const units: Record<string, number> = { MiB: 2 ** 20, hour: 3_600_000, hours: 3_600_000, days: 86_400_000 };
  const simple = allOptions().flatMap(({ name, standard = '' }) => {
    const [, number, unit, text] =
      /^(?:([\d,]+)(?: (MiB|hours?|days))?(?=$|;)|((?:true|false)(?=$)|'\w+'|`'\w+'`)(?=$|:))/.exec(
        standard,
      ) ?? [];
    if (text) return [{ name, value: text.replaceAll('`', '') }];
    if (number === undefined) return [];
    return [{ name, value: String(Number(number.replaceAll(',', '')) * (units[unit ?? ''] ?? 1)) }];
  });

  it('are found for most options that have one', () => expect(simple.length).toBeGreaterThan(30));

  it.each(simple)('say that $name is $value, as the code does', ({ name, value }) => {
    const member = name.split('.').at(-1)!;
    // `name = 1` of a parameter, `name: 1` of defaults, `given.name ?? 1`.
    const defaults = code.matchAll(
      new RegExp(`\\b${member}(?: = |: |\\s*\\?\\? )([\\d_ *]*\\d|'\\w+'|true|false)`, 'g'),
    );
    const values = Array.from(defaults, ([, found = '']) => {
      const factors = found.split('*').map((factor) => Number(factor.replaceAll('_', '')));
      return Number.isNaN(factors[0]) ? found : String(factors.reduce((product, factor) => product * factor));
    });
    expect(values).toContain(value);
  });
});
