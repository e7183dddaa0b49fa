import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Role, TaskState } from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { describe, expect, it } from 'vitest';
import { a2aEnums } from '../src/wire/a2a-messages.ts';
import { a2aMethods, a2aTypes } from '../src/wire/a2a-service.ts';
import type { Field } from '../src/wire/message-types.ts';

const generated = readFileSync(fileURLToPath(import.meta.resolve('@a2a-js/sdk/server/grpc')), 'utf8');

/** The fields that generated code of a message reads, as `number tag name type`. */
function generatedFields(message: string): string[] {
  const [, decode = ''] =
    new RegExp(`\\nvar ${message} = \\{\\n[\\s\\S]*?\\n  decode\\(([\\s\\S]*?)\\n\\};`).exec(generated) ?? [];
  const cases = decode.matchAll(/case (\d+): \{\s+if \(tag !== (\d+)\) \{\s+break;\s+\}([\s\S]*?)continue;/g);
  return Array.from(cases, ([, number, tag, code = '']) => {
    const name = /\$case: "(\w+)"/.exec(code)?.[1] ?? /message\.(\w+)/.exec(code)?.[1];
    const entry = /(\w+)_(\w+)Entry\.decode/.exec(code);
    const reader = /reader\.(string|bytes|bool)\(\)/.exec(code)?.[1];
    const type = entry ? 'map' : (reader ?? /(\w+)\.decode\(reader/.exec(code)?.[1] ?? 'int32');
    return `${number} ${tag} ${name} ${code.includes('.push(') ? `${type}[]` : type}`;
  });
}

function ours({ number, tag, jsonName, kind, typeName, label }: Field): string {
  const type = label === 'map' ? 'map' : kind === 'enum' ? 'int32' : typeName;
  return `${number} ${tag} ${jsonName} ${label === 'list' ? `${type}[]` : type}`;
}

const byNumber = (one: string, other: string) => Number.parseInt(one, 10) - Number.parseInt(other, 10);

describe('the table and the code that the official SDK generated from the proto', () => {
  it.each(Object.values(a2aTypes))('agree on $name (R-GRPC-10…53)', ({ name, fields }) => {
    expect(fields.map(ours).sort(byNumber)).toEqual(generatedFields(name).sort(byNumber));
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
    expect([Object.keys(a2aTypes).length, Object.keys(a2aEnums).length, a2aMethods.length]).toEqual([
      44, 2, 11,
    ]);
  });
});
