/** What a search of tasks says. All conditions must hold. */
export interface TaskSearch {
  /** Only tasks with all of these labels. */
  readonly labels?: readonly string[];
  /** Only tasks with none of these labels; one that ends with `*` is the beginning of a label. */
  readonly notLabels?: readonly string[];
  /** Only tasks that failed with this code. */
  readonly code?: string;
  /** Only tasks for the skill with this id. */
  readonly skill?: string;
  /** Only tasks of this caller, by the label of its scope. */
  readonly caller?: string;
  /** Only tasks that took longer, or shorter, than this: `>10s`, `<500ms`. */
  readonly took?: string;
  /** Only tasks whose models cost more, or less, than this in any currency: `>1`, `<0.5`. */
  readonly cost?: string;
  /**
   * Part of a task's id, its title, its labels or the text of its status, in any case; or beginnings of words of its first
   * message, where the store searches those.
   */
  readonly text?: string;
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

/** The words that look like a filter and are none, such as `lable:vip` and `took:10`. They are searched as text. */
export const doubtfulWords = (typed: string): readonly string[] =>
  wordsOf(typed).flatMap(({ value, isDoubtful }) => (isDoubtful ? [value] : []));
