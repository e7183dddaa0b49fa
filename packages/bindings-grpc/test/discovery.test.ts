import { memoryStore } from '@batonjs/store-memory';
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
