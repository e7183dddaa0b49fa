import { memoryStore } from '@batonjs/store-memory';
import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { Client, credentials, status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from './agent.ts';

const asIs = (bytes: Buffer) => bytes;

function clientOf(address: string) {
  const client = new Client(address, credentials.createInsecure());
  onTestFinished(() => client.close());
  return client;
}

/** A request with one string field of a number below 16. */
const request = (number: number, text: string) =>
  Buffer.from([(number << 3) | 2, text.length, ...Buffer.from(text)]);

const check = (client: Client, service = '') =>
  new Promise<number[]>((resolve, reject) => {
    client.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      asIs,
      asIs,
      request(1, service),
      (error, bytes) => (error ? reject(error) : resolve([...bytes!])),
    );
  });

describe('health', () => {
  it('says SERVING for the server and for the service of A2A, and knows no other', async () => {
    const client = clientOf((await serve()).address);
    expect(await check(client)).toEqual([8, 1]);
    expect(await check(client, 'lf.a2a.v1.A2AService')).toEqual([8, 1]);
    await expect(check(client, 'a.B')).rejects.toMatchObject({ code: status.NOT_FOUND });
  });

  it('says NOT_SERVING when the server closes, also to those who watch', async () => {
    const { server, address } = await serve({ store: memoryStore() });
    const client = clientOf(address);
    const watch = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', asIs, asIs, Buffer.alloc(0));
    watch.on('error', () => {});
    const seen: number[][] = [];
    for await (const bytes of watch) {
      seen.push([...(bytes as Buffer)]);
      if (seen.length === 1) await server.close({ graceMs: 0 });
      else break;
    }
    expect(seen).toEqual([
      [8, 1],
      [8, 2],
    ]);
    expect(await check(client)).toEqual([8, 2]);
  });
});

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  async function ask(client: Client, number: number, text: string): Promise<Buffer> {
    const call = client.makeBidiStreamRequest(
      `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      asIs,
      asIs,
    );
    call.write(request(number, text));
    call.end();
    const answers: Buffer[] = [];
    for await (const bytes of call) answers.push(bytes as Buffer);
    expect(answers).toHaveLength(1);
    return answers[0]!;
  }

  it('lists the services', async () => {
    const answer = (await ask(clientOf((await serve()).address), 7, '')).toString('latin1');
    for (const name of [
      'lf.a2a.v1.A2AService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
    ])
      expect(answer).toContain(name);
  });

  it('has the files of all symbols, from which a client can build every message', async () => {
    const client = clientOf((await serve()).address);
    const files: FileDescriptorProto[] = [];
    const symbols = [
      'lf.a2a.v1.A2AService.SendMessage',
      'lf.a2a.v1.Task',
      'grpc.health.v1.Health',
      `grpc.reflection.${version}.ServerReflection`,
    ];
    const imports = ['empty', 'struct', 'timestamp'].map((name) => `google/protobuf/${name}.proto`);
    for (const name of imports) files.push(fileIn(await ask(client, 3, name)));
    for (const symbol of symbols) {
      const file = fileIn(await ask(client, 4, symbol));
      if (!files.some((other) => other.name === file.name)) files.push(file);
    }
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
    expect(registry.getService('lf.a2a.v1.A2AService')?.methods).toHaveLength(11);
    expect(registry.getMessage('lf.a2a.v1.Task')?.fields).toHaveLength(6);
  });

  it('says that there is no such symbol', async () => {
    const answer = await ask(clientOf((await serve()).address), 4, 'a.B');
    expect(answer.toString('latin1')).toContain('There is no such file or symbol');
  });
});

/** The file in a `FileDescriptorResponse`, which is the last field of an answer. */
function fileIn(answer: Buffer): FileDescriptorProto {
  for (let at = answer.indexOf(34); at >= 0; at = answer.indexOf(34, at + 1)) {
    const [outer, afterOuter] = varint(answer, at + 1);
    if (afterOuter + outer !== answer.length || answer[afterOuter] !== 10) continue;
    const [inner, afterInner] = varint(answer, afterOuter + 1);
    if (afterInner + inner === answer.length)
      return fromBinary(FileDescriptorProtoSchema, answer.subarray(afterInner));
  }
  throw new Error('The answer holds no file');
}

function varint(bytes: Buffer, from: number): [value: number, next: number] {
  let value = 0;
  let at = from;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]!;
    value |= (byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}
