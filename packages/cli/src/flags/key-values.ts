import type { Struct } from '@batonjs/protocol';
import { isObject, tryJson } from '@batonjs/protocol/json';
import { InvalidArgumentError } from 'commander';

/** Reads `name:value` of a service parameter, and adds it to the earlier ones. */
export function addServiceParameter(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const match = /^([!#$%&'*+.^_`|~\w-]+):\s*([^\r\n]*)$/.exec(text);
  if (!match) throw new InvalidArgumentError('A service parameter is name:value.');
  const [, name = '', value = ''] = match;
  return { ...earlier, [name.toLowerCase()]: value };
}

/** Reads a JSON object. */
export function toMetadata(text: string): Struct {
  const value = tryJson(text);
  if (!isObject(value)) throw new InvalidArgumentError('Metadata is a JSON object.');
  return value as Struct;
}

/** Reads a whole number of at least `least`. */
export const toCount =
  (least: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d{1,9}$/.test(text) || value < least)
      throw new InvalidArgumentError(`It is a whole number, ${least} or more.`);
    return value;
  };

/** Adds a text to the earlier ones. */
export const toTexts = (text: string, earlier: readonly string[] = []): readonly string[] => [
  ...earlier,
  text,
];

/** Reads `20/s`, or `20`, as a number a second. */
export function toRate(text: string): number {
  const [, number = ''] = /^(\d{1,6}(?:\.\d{1,3})?)(?:\/s)?$/.exec(text) ?? [];
  if (!(Number(number) > 0)) throw new InvalidArgumentError('A rate is a number a second, such as 20/s.');
  return Number(number);
}
