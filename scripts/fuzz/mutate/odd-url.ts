import { between, pick } from '../../workload/random.ts';

// biome-ignore format: a list reads best when it is dense
const loopback = [
  '127.0.0.1', '127.1', '127.0.1', '0x7f.1', '0177.0.0.1', '2130706433', '0x7f000001', '017700000001', '0', '0.0.0.0', 'localhost', 'LOCALHOST',
  'localhost.', 'a.localhost', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::7f00:1]', '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]', '①②⑦.⓪.⓪.①', '127。0。0。1', '127.0.0.1.', '127.0.0.1%2e', '%31%32%37.0.0.1', '127.0.0.1.nip.invalid', '127.000.000.001',
];

// biome-ignore format: a list reads best when it is dense
const others = [
  '10.0.0.1', '192.168.0.1', '169.254.169.254', '[fe80::1]', '[fe80::1%25eth0]', '[fc00::1]', '100.64.0.1', '255.255.255.255', '224.0.0.1',
  'example.invalid', 'xn--', 'xn--a', '-', '_', 'a b', 'a\tb', '%00', '[', '[]', '[::', '', '.', '..', '1.2.3.4.5', '256.0.0.1', 'ß.invalid',
];

const letters = ['.', 'a', 'a.', '-', '1.', '0x', '%2e', '[', ':', '@', 'ä', '\u3002'];

/** A URL that a policy of addresses may misread. Everything that it names on this machine but `port` must stay unasked. */
export function oddUrl(random: () => number, port: number): string {
  const scheme = pick(random, [
    'http',
    'http',
    'http',
    'https',
    'HTTP',
    'http\t',
    'ftp',
    'file',
    'ws',
    'javascript',
    '',
  ]);
  const user =
    random() < 0.2
      ? pick(random, ['a@', 'a:b@', '127.0.0.1@', '@', 'http://a@', `127.0.0.1:${port}@`, '%40@'])
      : '';
  const slashes = random() < 0.9 ? '//' : pick(random, ['', '/', '///', '\\\\', '/\\']);
  const after =
    random() < 0.8
      ? `:${port}`
      : pick(random, ['', ':', ':0', ':80', ':65536', ':-1', ':1e3', `:${port}:1`, `:0${port}`]);
  const path = pick(random, [
    '',
    '/',
    '/hook',
    '/../hook',
    '\\hook',
    '?',
    '#',
    '?a=\0',
    '/%00',
    `/${'../'.repeat(9)}`,
  ]);
  return `${scheme}:${slashes}${user}${oddHost(random)}${after}${path}`;
}

function oddHost(random: () => number): string {
  const kind = random();
  if (kind < 0.6) return pick(random, loopback);
  if (kind < 0.85) return pick(random, others);
  // Long ones show whether reading takes more than a time that grows with the length.
  return pick(random, letters).repeat(between(random, 1, 30_000)) + pick(random, ['', 'b', '.', '!']);
}
