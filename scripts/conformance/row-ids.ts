const id = String.raw`R-[A-Z0-9]+-\d{2,}`;
const list = new RegExp(String.raw`${id}(?:\s*(?:\.{2,3}|…|–|to|,|/|\+|and)\s*(?:${id}|\d+\b))*`, 'g');

/**
 * The rows that a title names: `R-SEND-01`, several of them, lists such as `R-SEND-01, 03` and ranges such as
 * `R-SEND-01..05` or `R-SEND-01 to R-SEND-05`.
 */
export function rowIds(title: string): string[] {
  return [...new Set([...title.matchAll(list)].flatMap(([text]) => expand(text)))];
}

function expand(text: string): string[] {
  const ids: string[] = [];
  let family = '';
  let isRange = false;
  for (const token of text.match(new RegExp(String.raw`${id}|\d+|\.{2,3}|…|–|\bto\b`, 'g')) ?? []) {
    const number = /\d+$/.exec(token)?.[0];
    if (number === undefined) {
      isRange = true;
      continue;
    }
    const from = ids.at(-1);
    if (token.startsWith('R-')) family = token.slice(0, -number.length);
    if (isRange && from?.startsWith(family)) {
      const first = Number(from.slice(family.length)) + 1;
      for (let n = first; n < Number(number); n++) ids.push(family + String(n).padStart(number.length, '0'));
    }
    ids.push(family + number);
    isRange = false;
  }
  return ids;
}
