import type { Field } from '../src/wire/message-types.ts';

/** The fields that generated code of a message reads, as `number tag name type`. */
export function generatedFields(generated: string, message: string): string[] {
  const [, decode = ''] =
    new RegExp(`\\nvar ${message}\\d? = \\{\\n[\\s\\S]*?\\n  decode\\(([\\s\\S]*?)\\n\\};`).exec(generated) ??
    [];
  const cases = decode.matchAll(/case (\d+): \{\s+if \(tag !== (\d+)\) \{\s+break;\s+\}([\s\S]*?)continue;/g);
  return Array.from(cases, ([, number, tag, code = '']) => {
    const name = /\$case: "(\w+)"/.exec(code)?.[1] ?? /message\.(\w+)/.exec(code)?.[1];
    const entry = /(\w+)_(\w+)Entry\.decode/.exec(code);
    const reader = /reader\.(string|bytes|bool)\(\)/.exec(code)?.[1];
    const type = entry ? 'map' : (reader ?? /(\w+?)\d?\.decode\(reader/.exec(code)?.[1] ?? 'int32');
    return `${number} ${tag} ${name} ${code.includes('.push(') ? `${type}[]` : type}`;
  });
}

/** The same of a field of our table. */
export function ours({ number, tag, jsonName, kind, typeName, label }: Field): string {
  const type = label === 'map' ? 'map' : kind === 'enum' ? 'int32' : typeName;
  return `${number} ${tag} ${jsonName} ${label === 'list' ? `${type}[]` : type}`;
}
