import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { repetitions } from '../../../../test/kit/repetitions.ts';
import { checkOf } from '../../src/model/canonical.ts';
import { params } from '../../src/params.ts';
import { parseParams } from '../../src/parse-params.ts';
import { sendMessageRequest, spellLoosely } from '../arbitraries.ts';

const names = ['tenant', 'id', 'taskId', 'contextId', 'pageSize', 'pageToken', 'historyLength', 'metadata'];
const more = [
  'status',
  'url',
  'token',
  'authentication',
  'currentGeneration',
  'page_size',
  'includeArtifacts',
];
/** Values on both sides of what members accept. */
const member = fc.constantFrom<unknown>(
  ...[
    '',
    'x',
    'x'.repeat(512),
    'x'.repeat(513),
    '\0',
    '\ud800',
    'https://a.example/',
    'QQ==',
    'QQ',
    'QQ=',
    '-_',
  ],
  ...[0, -0, 1, 1.5, -1, 2 ** 31 - 1, 2 ** 31, '7', true, false, 'true', null, undefined, [], [null], {}],
  ...[
    'ROLE_USER',
    'ROLE_AGENT',
    'ROLE_UNSPECIFIED',
    'TASK_STATE_WORKING',
    [{ text: '' }],
    [{ text: '', raw: '' }],
  ],
  ...[
    { scheme: 'Bearer' },
    { scheme: '' },
    Object.create(null),
    new Date(0),
    Object.assign([], { length: 2 }),
  ],
);
const required = fc.constantFrom(
  {},
  { id: 'i' },
  { id: 'i', taskId: 't' },
  { taskId: 't', url: 'https://a.example/' },
);
const flat = fc
  .tuple(
    required,
    fc.dictionary(fc.constantFrom(...names, ...more), member, { maxKeys: 2, noNullPrototype: true }),
  )
  .map((members) => Object.assign({}, ...members) as unknown);
/** A request that is right, but for one member somewhere in it that was replaced, added or removed. */
const spoiled = fc
  .tuple(
    sendMessageRequest,
    fc.nat(),
    fc.constantFrom(...names, 'text', 'raw', 'data', 'role', 'parts', '0'),
    member,
  )
  .map(([request, where, name, value]) => {
    const copy = structuredClone(request);
    const places = objectsIn(copy);
    const place = places[where % places.length]!;
    const own = Object.keys(place);
    const key = where % 2 ? name : (own[where % (own.length || 1)] ?? name);
    if (where % 5) place[key] = value;
    else delete place[key];
    return copy as unknown;
  });

function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? nested : [value as Record<string, unknown>, ...nested];
}

/** Whether the schema makes a mere copy of the value. */
function isCopied(schema: z.ZodType, value: unknown): boolean {
  const { success, data } = schema.safeParse(value);
  if (!success) return false;
  try {
    expect(data).toStrictEqual(value);
    return true;
  } catch {
    return false;
  }
}

describe('the check of a schema', () => {
  it('knows requests that are canonical, which are not copied', () => {
    fc.assert(
      fc.property(sendMessageRequest, (request) => {
        expect(checkOf(params.SendMessage)(request)).toBe(true);
        expect(parseParams('SendMessage', request)).toBe(request);
      }),
    );
  });

  it('is true of JSON that the schema copies, and of nothing else', () => {
    const spelled = fc
      .tuple(sendMessageRequest, fc.infiniteStream(fc.nat(3)))
      .map(([request, choices]) => spellLoosely(request, choices));
    const json = fc.oneof(spoiled, spelled).map((value): unknown => JSON.parse(JSON.stringify(value)));
    let [right, wrong] = [0, 0];
    fc.assert(
      fc.property(json, (value) => {
        const isRight = checkOf(params.SendMessage)(value);
        expect(isRight).toBe(isCopied(params.SendMessage, value));
        if (isRight) right++;
        else wrong++;
      }),
      { numRuns: repetitions(300, 1_000) },
    );
    expect([right > 50, wrong > 50]).toEqual([true, true]);
  });

  it.each(Object.entries(params))(
    'accepts nothing for %s that the schema refuses or changes',
    (_, schema) => {
      const check = checkOf(schema);
      fc.assert(
        fc.property(
          fc.oneof({ arbitrary: flat, weight: 5 }, spoiled, fc.anything({ withNullPrototype: true })),
          (value) => {
            if (check(value)) expect(isCopied(schema, value)).toBe(true);
          },
        ),
        { numRuns: repetitions(300, 1_000) },
      );
    },
  );
});
