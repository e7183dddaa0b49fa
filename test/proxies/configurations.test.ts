import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { signCard, verifyCard } from '@batonjs/auth';
import { decodeSse, type SseEvent } from '@batonjs/bindings';
import { type AgentEvent, connect, textOf } from '@batonjs/client';
import { append, artifact, completed } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { programOf, proxies, proxyTo } from '../kit/http/proxies.ts';
import { listen } from '../kit/listen.ts';
import { freePort } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { serve } from '../kit/serve.ts';

const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const key = { ...jwk, kid: 'k', alg: 'ES256' };
const { d: _d, ...publicKey } = key;
const programs = await Promise.all(proxies.map(async (proxy) => [proxy, await programOf(proxy)] as const));

for (const [proxy, program] of programs)
  describe.skipIf(!program)(`behind ${proxy.name}, with the configuration of the page`, () => {
    /** Serves an agent behind the proxy that says three words, and waits before the second and the third. */
    async function behind(heartbeatMs?: number) {
      const waits = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      const port = await freePort();
      const publicUrl = `http://127.0.0.1:${port}`;
      const server = serve(
        async function* () {
          yield artifact('text', 'one ');
          await waits[0].promise;
          yield append('text', 'two ');
          await waits[1].promise;
          yield append('text', 'three');
          yield completed();
        },
        {
          publicUrl,
          card: { name: 'Behind', description: 'Is behind', sign: (card) => signCard(card, key) },
          ...(heartbeatMs && { streams: { heartbeatMs } }),
        },
      );
      await proxyTo(proxy, program!, await listen(createServer(nodeHandler(server))), port);
      const client = await connect(publicUrl, {
        verifyCard: (card) => verifyCard(card, { keys: [publicKey] }),
      });
      return { client, waits, publicUrl };
    }

    it('a signed card passes, events come as they are made, and a client goes on after it left', async () => {
      const { client, waits, publicUrl } = await behind();
      expect(client.interface.url).toContain(publicUrl);
      const seen: string[] = [];
      const stream = client.stream('Go');
      // Each is awaited before the agent may make the next.
      for await (const { artifactUpdate } of stream) {
        if (artifactUpdate) seen.push(textOf(artifactUpdate.artifact));
        if (seen.length === 1) break;
      }
      const rest = client.follow(stream.task!.id);
      waits[0].resolve();
      for await (const { artifactUpdate, task } of rest) {
        const said = textOf(artifactUpdate?.artifact ?? task?.artifacts?.[0]);
        if (said) seen.push(said);
        if (seen.join('').includes('two')) waits[1].resolve();
      }
      expect(seen.at(-1)).toBe('three');
      const whole = await client.getTask({ id: stream.task!.id });
      expect([whole.status.state, textOf(whole.artifacts![0])]).toEqual([
        'TASK_STATE_COMPLETED',
        'one two three',
      ]);
    });

    it('a plain client goes on after the last event that it has seen', async () => {
      const { waits, publicUrl } = await behind();
      const leaving = new AbortController();
      const call = (method: string, params: object, position?: string) =>
        fetch(publicUrl, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'a2a-version': '1.0',
            ...(position && { 'last-event-id': position }),
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
          signal: position ? undefined : leaving.signal,
        });
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Go' }] };
      const before: SseEvent[] = [];
      for await (const event of decodeSse((await call('SendStreamingMessage', { message })).body!)) {
        before.push(event);
        if (event.data.includes('"one "')) break;
      }
      leaving.abort();
      for (const { resolve } of waits) resolve();
      const id = /"taskId":"([^"]+)"/.exec(before.at(-1)!.data)![1]!;
      const after: SseEvent[] = [];
      const resumed = await call('SubscribeToTask', { id }, before.at(-1)!.id);
      for await (const event of decodeSse(resumed.body!)) after.push(event);
      const texts = after.map(({ data }) => /"text":"([^"]+)"/.exec(data)?.[1]).filter(Boolean);
      expect(texts.join('')).toBe('two three');
    });

    // Real time passes. The usual limits end before: 15 s of a route of Envoy, 30 s of HAProxy's examples.
    it.runIf(repetitions(0, 1))('a stream is silent for 35 s, and goes on', async () => {
      const { client, waits } = await behind(120_000);
      const seen: string[] = [];
      const events = client.sendStreamingMessage({
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Go' }] },
      });
      for await (const event of events) {
        const { artifactUpdate }: AgentEvent = event;
        if (artifactUpdate) seen.push(textOf(artifactUpdate.artifact));
        if (seen.length === 1) {
          await sleep(35_000);
          for (const { resolve } of waits) resolve();
        }
      }
      expect(seen).toEqual(['one ', 'two ', 'three']);
    });
  });
