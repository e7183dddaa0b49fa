import { between, pick } from '../../workload/random.ts';
import { oddText, oddValue, Raw } from './odd-values.ts';

type Container = Record<string, unknown> | unknown[];

/** One member of a document. */
interface Place {
  readonly parent: Container;
  readonly key: string;
}

/** Changes a document in one place, and says how. The document is changed as it is. */
type Change = (random: () => number, place: Place, all: readonly Place[]) => string;

/** The text of a document with some of its members changed, and what was done to it. */
export function mutateJson(random: () => number, text: string): { text: string; changes: string[] } {
  const root = { root: JSON.parse(text) as unknown };
  const changes: string[] = [];
  for (let n = pick(random, [1, 1, 1, 2, 3]); n > 0; n--) {
    const places = placesIn(root);
    const place = pick(random, places);
    const [name, change] = pick(random, Object.entries(kinds));
    changes.push(`${name} ${place.key}${change(random, place, places)}`);
  }
  return { text: write(root.root), changes };
}

const get = ({ parent, key }: Place): unknown => (parent as Record<string, unknown>)[key];
const set = ({ parent, key }: Place, value: unknown): void => {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
};

const kinds: Record<string, Change> = {
  replace(random, place, all) {
    const seen = all.map(get).filter((value) => typeof value === 'string');
    set(place, oddValue(random, seen));
    return '';
  },
  remove(_random, { parent, key }) {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else if (key !== 'root') delete parent[key];
    return '';
  },
  rename(random, { parent, key }) {
    if (Array.isArray(parent) || key === 'root') return ' not';
    const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const name = random() < 0.4 ? snake : random() < 0.5 ? key.toUpperCase() : oddText(random);
    const value = parent[key];
    delete parent[key];
    set({ parent, key: name }, value);
    return ` to ${name.slice(0, 20)}`;
  },
  add(random, place) {
    const value = get(place);
    if (typeof value !== 'object' || value === null || value instanceof Raw) return ' not';
    if (Array.isArray(value)) value.push(oddValue(random));
    else set({ parent: value as Container, key: oddText(random) }, oddValue(random));
    return '';
  },
  swap(random, place, all) {
    const other = pick(random, all);
    const [one, two] = [get(place), get(other)];
    if (contains(one, other.parent) || contains(two, place.parent)) return ' not';
    set(place, two);
    set(other, one);
    return ` with ${other.key}`;
  },
  wrap(random, place) {
    const value = get(place);
    set(place, random() < 0.5 ? [value] : { [oddText(random).slice(0, 20)]: value });
    return '';
  },
  repeat(random, place) {
    const value = get(place);
    const times = pick(random, [2, 10, 1_000, 10_001]);
    if (Array.isArray(value) && write(value).length * times < 400_000)
      set(place, Array(times).fill(value).flat(1));
    else if (typeof value === 'string')
      set(place, value.repeat(Math.min(times, 400_000 / (value.length + 1))));
    return ` ${times} times`;
  },
  change(random, place) {
    const value = get(place);
    if (typeof value === 'boolean') set(place, !value);
    else if (typeof value === 'number')
      set(place, random() < 0.5 ? -value : value + pick(random, [1, 0.5, 1e9]));
    else if (typeof value === 'string') set(place, changeText(random, value));
    return '';
  },
  retype(random, place) {
    const value = get(place);
    if (value instanceof Raw) return ' not';
    set(
      place,
      typeof value === 'string' ? pick(random, [Number(value) || 7, value.split('')]) : write(value),
    );
    return '';
  },
};

function changeText(random: () => number, text: string): string {
  const at = between(random, 0, text.length);
  return text.slice(0, at) + oddText(random).slice(0, 1_000) + text.slice(at + between(random, 0, 3));
}

function placesIn(root: Container, found: Place[] = []): Place[] {
  for (const key of Object.keys(root)) {
    found.push({ parent: root, key });
    const value = (root as Record<string, unknown>)[key];
    if (found.length < 500 && typeof value === 'object' && value !== null && !(value instanceof Raw))
      placesIn(value as Container, found);
  }
  return found;
}

const contains = (value: unknown, wanted: unknown): boolean =>
  value === wanted ||
  (typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((inner) => contains(inner, wanted)));

/** JSON, except raw text that is written as it is. */
function write(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${write(inner)}`);
  return `{${members.join(',')}}`;
}
