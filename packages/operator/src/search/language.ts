/**
 * What a search of tasks says; all conditions must hold. `labels`: all of them; `notLabels`: none of them, and `*` at the
 * end stands for any; `code`: it failed with this one; `skill`: a message named it; `caller`: the label of its scope;
 * `took` and `cost`: a bound such as `>10s` and `<0.5`, in any currency; `text`: a part of its id, its title, its labels or
 * its answer, in any case, or beginnings of words of its first message where the store searches those.
 */
export interface TaskSearch
  extends Readonly<Partial<Record<'code' | 'skill' | 'caller' | 'took' | 'cost' | 'text', string>>> {
  readonly labels?: readonly string[];
  readonly notLabels?: readonly string[];
}

/** The filters of a search: the member that each is, an example, and what its value must be. */
const filters: Readonly<Record<string, readonly [keyof TaskSearch, string, RegExp?]>> = {
  label: ['labels', 'vip'],
  '-label': ['notLabels', 'schedule:*'],
  code: ['code', 'TIMEOUT'],
  skill: ['skill', 'convert'],
  caller: ['caller', 'ada'],
  took: ['took', '>10s', /^[<>]\d+(\.\d+)?(ms|[smhd])$/],
  cost: ['cost', '>1', /^[<>]\d+(\.\d+)?$/],
};

/** A search that has each filter once. */
export const searchExample = Object.entries(filters)
  .map(([name, [, example]]) => `${name}:${example}`)
  .join(' ');

/** Words, and filters with a value, each perhaps in quotes, in which `\` stands before quotes and itself. */
const words = /(?<!\S)(?:(-?[a-z]+):)?(?:"((?:[^"\\]|\\.)*)"(?!\S)|(\S+))/gs;

const wordsOf = (typed: string) =>
  [...typed.matchAll(words)].map(([whole, name = '', quoted, bare = '']) => {
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? bare;
    const [member, , form = /./s] = (Object.hasOwn(filters, name) && filters[name]) || [];
    if (member && form.test(value)) return { member, value };
    return { value: name === '' ? value : whole, isDoubtful: /^-?\p{L}+:(?!\/\/)/u.test(whole) };
  });

/** Reads what a person typed: `label:vip -label:schedule:* took:>10s cost:>1`, values with spaces in quotes, and other words as one text. */
export function readSearch(typed: string): TaskSearch {
  const found: { -readonly [Name in keyof TaskSearch]: TaskSearch[Name] } = {};
  for (const { member = 'text', value } of wordsOf(typed))
    if (member === 'labels' || member === 'notLabels') found[member] = [...(found[member] ?? []), value];
    else found[member] = member === 'text' && found.text ? `${found.text} ${value}` : value;
  return found;
}

/** The problem of words that look like a filter and are none, such as `lable:vip` and `took:10`; undefined without any. */
export function searchProblem(typed: string): string | undefined {
  const doubtful = wordsOf(typed).flatMap(({ value, isDoubtful }) => (isDoubtful ? [value] : []));
  return doubtful.length > 0 ? `${doubtful.join(' ')} is no filter: they are ${searchExample}` : undefined;
}

/** A filter as it is typed: `label:vip`, `label:"a b"`. */
export const searchWord = (begin: string, value: string): string =>
  begin + (/^[^\s"]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`);
