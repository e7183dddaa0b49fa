/** Ids that callers may use as scope, task, context, queue, holder, commit id or key. */
export const oddIds: readonly string[] = [
  ...`o'clock "quoted" \` \\ % _ * ? [a-z] : a:b a: :a {n} {0}:x }{ / .. - -- ; $1 ?1 @x # , |`.split(' '),
  ...'0 -1 1e3 null true constructor __proto__ toString A a é e\u0301 ß SS İ ı 日本 😀 👩‍👩‍👧‍👦'.split(' '),
  ...['a b', ' ', 'a ', ' a', '\t', '\n', '\r\n', '\u202e', '\ufeff', '\uffff'],
  'x'.repeat(1_024),
  `${'x'.repeat(1_023)}y`,
  wide('a'),
  wide('b'),
];

/** 1,024 characters that end with this one: 3,070 bytes, which no database can compress into one key of an index. */
export function wide(last: string): string {
  let number = 1;
  const characters = Array.from({ length: 1_023 }, () => {
    number = (number * 48_271) % 2_147_483_647;
    return String.fromCharCode(0x4e00 + (number % 20_000));
  });
  return characters.join('') + last;
}
