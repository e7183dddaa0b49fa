import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Role, TaskState } from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { a2aEnums, a2aMessages } from '@batonjs/protocol/proto-messages';
import { describe, expect, it } from 'vitest';
import { a2aMethods } from '../src/wire/a2a-service.ts';
import { messageTypes } from '../src/wire/message-types.ts';
import { generatedFields, ours } from './generated-fields.ts';

const generated = readFileSync(fileURLToPath(import.meta.resolve('@a2a-js/sdk/server/grpc')), 'utf8');

const released = messageTypes(a2aMessages, a2aEnums);
const byNumber = (one: string, other: string) => Number.parseInt(one, 10) - Number.parseInt(other, 10);

describe('the table and the code that the official SDK generated from the proto', () => {
  it.each(Object.values(released))('agree on $name (R-GRPC-10…53)', ({ name, fields }) => {
    expect(fields.map(ours).sort(byNumber)).toEqual(generatedFields(generated, name).sort(byNumber));
  });

  it.each([
    ['TaskState', TaskState],
    ['Role', Role],
  ] as const)('agree on the enum %s (R-GRPC-54, R-GRPC-55)', (name, theirs) => {
    const byNumber = theirs as unknown as Readonly<Record<number, string>>;
    expect(a2aEnums[name].map((_, number) => byNumber[number])).toEqual(a2aEnums[name]);
    expect(byNumber[a2aEnums[name].length]).toBeUndefined();
  });

  it('agree on the methods, their kinds and their paths (R-GRPC-07…09)', () => {
    const theirs = Object.values(A2AService).map(({ path, responseStream }) => `${path} ${responseStream}`);
    expect(a2aMethods.map(({ path, isStream }) => `${path} ${isStream}`).sort()).toEqual(theirs.sort());
  });

  it('count 44 messages, 2 enums and 11 methods', () => {
    expect([Object.keys(released).length, Object.keys(a2aEnums).length, a2aMethods.length]).toEqual([
      44, 2, 11,
    ]);
  });
});
