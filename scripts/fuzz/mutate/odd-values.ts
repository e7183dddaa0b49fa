import { between, pick } from '../../workload/random.ts';

/** JSON text that stands in a document as it is. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

// biome-ignore format: a list reads best when it is dense
const strings = [
  '', ' ', '\0', 'a\0b', '\u001b[31m', '\r\n\r\nHTTP/1.1 200 OK', '../../etc/passwd', '%00', '%2e%2e%2f', 'null', 'undefined',
  'NaN', '0', '-1', '1e309', 'true', '{}', '[]', '"', "'; DROP TABLE facts; --", '<script>alert(1)</script>', '{{7*7}}', '__proto__',
  'constructor', 'toString', 'hasOwnProperty', 'é', 'e\u0301', '\u202e', '\ufeff', '\ufffe', '\uffff', '😀', '👩‍👩‍👧', '\u{10ffff}',
  'TASK_STATE_DONE', 'TASK_STATE_COMPLETED', 'TASK_STATE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT', 'user', '2026-13-45T99:99:99Z', '2026-01-01',
  '+275760-09-13T00:00:00.001Z', '-000001-01-01T00:00:00Z', '2026-02-29T00:00:00.123456789+23:59', '0000-00-00T00:00:00Z', 'text/plain; charset="',
  '*/*', 'text/', 'YQ', 'YQ===', '-_-_', '====', 'http://', 'http://[::1', 'http://127.0.0.1:1/hook', 'https://169.254.169.254/', 'file:///etc/passwd',
  'javascript:alert(1)', 'http://user:pass@host/', 'https://example.invalid/\u0000', 'data:text/plain,hello', 'a'.repeat(513), 'x'.repeat(65_536),
];

// biome-ignore format: a list reads best when it is dense
const numbers = [
  0, -0, 1, -1, 1.5, 0.1, 1e-7, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53, 2 ** 63, 1e21, 1e308, -1e308, 5e-324, 100, 101, 255, 65_536,
];

// biome-ignore format: a list reads best when it is dense
const texts = [
  '1e999', '-1e999', '00', '1.', '.5', '+1', 'NaN', 'Infinity', 'undefined', "'text'", '"\\ud800"', '"\\udc00\\ud800"', '"\\x41"', '"\t"', '"\\u12"',
  '{"a":1,"a":2}', '{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}', '[1,]', '{,}', '/* */1', '1'.repeat(400),
  `0.${'3'.repeat(400)}`, `1e${'9'.repeat(40)}`, '"\u2028"',
];

/** Something that a program may not expect where it expects JSON. */
export function oddValue(random: () => number, seen: readonly string[] = []): unknown {
  const kind = between(random, 0, 9);
  if (kind <= 2) return pick(random, strings);
  if (kind <= 4) return pick(random, numbers);
  if (kind === 5) return new Raw(pick(random, texts));
  if (kind === 6)
    return pick(random, [null, true, false, [], {}, [[]], [null], { '': '' }, [{}], { toJSON: 1 }]);
  if (kind === 7) return nested(random);
  if (kind === 8 && seen.length > 0) return pick(random, seen);
  return randomText(random, between(random, 0, 40));
}

/** Text that a program may not expect. */
export const oddText = (random: () => number): string =>
  random() < 0.7 ? pick(random, strings) : randomText(random, between(random, 0, 60));

function nested(random: () => number): Raw {
  const depth = pick(random, [10, 99, 100, 101, 1_000, 20_000]);
  const [open, close] = pick(random, [
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"parts":', '}]'],
  ] as const);
  return new Raw(open.repeat(depth) + pick(random, ['1', 'null', '{}', '']) + close.repeat(depth));
}

function randomText(random: () => number, length: number): string {
  const codes = Array.from({ length }, () => {
    const range = pick(random, [0x7f, 0x7f, 0x7f, 0xff, 0xffff]);
    return between(random, 0, range);
  });
  return String.fromCharCode(...codes);
}
