import { readFileSync } from 'node:fs';
import { A2AError } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import { describe, expect, it } from 'vitest';
import { toStatus } from '../src/errors/wire-error.ts';
import { a2aMethods } from '../src/wire/a2a-service.ts';
import { decodeMessage } from '../src/wire/decode-message.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import type { MessageType } from '../src/wire/message-types.ts';

/** A call with what it is answered with: those of the other bindings. */
interface GoldenCall {
  readonly operation: OperationName;
  readonly params: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly events?: readonly unknown[];
}

const calls = JSON.parse(
  readFileSync(new URL('../../bindings/test/golden/calls.json', import.meta.url), 'utf8'),
) as GoldenCall[];

/** The bytes as a person can compare them: 32 in a line, with their text. */
function dump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 32) {
    const part = Buffer.from(bytes.subarray(at, at + 32));
    const text = part.toString('latin1').replace(/[^\x20-\x7e]/g, '.');
    lines.push(`${part.toString('hex').padEnd(64)}  ${text}`);
  }
  return lines.join('\n');
}

/** The message in a golden file: its type, its bytes; checked to be read as it was meant. */
function message(type: MessageType, value: unknown): string {
  const bytes = encodeMessage(type, value);
  expect(encodeMessage(type, decodeMessage(type, bytes))).toEqual(bytes);
  return `${type.name}\n${dump(bytes)}`.trimEnd();
}

describe('gRPC on the wire', () => {
  it.each(calls)('$operation is what the golden file says', async ({ operation, params, result, events }) => {
    const { path, request, response } = a2aMethods.find((method) => method.operation === operation)!;
    const answers = events ?? [result];
    const text = [path, message(request, params), ...answers.map((answer) => message(response, answer))];
    await expect(`${text.join('\n\n')}\n`).toMatchFileSnapshot(`golden/${operation}.txt`);
  });

  it('an error is what the golden file says', async () => {
    const error = new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: 't-1' } });
    const { code, details, metadata } = toStatus(error);
    const [packed] = metadata.get('grpc-status-details-bin');
    const text = `grpc-status: ${code}\ngrpc-message: ${details}\ngrpc-status-details-bin:\n${dump(packed as Buffer)}\n`;
    await expect(text).toMatchFileSnapshot('golden/error.txt');
  });
});
