import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { jwksHandler, signPush, verifyPush } from '@batonjs/auth';
import type { AgentEvent } from '@batonjs/client';
import { webhookReceiver } from '@batonjs/client/webhook-receiver';
import { completed, working } from '@batonjs/server';
import { describe, expect, it, vi } from 'vitest';
import { listen } from '../../kit/listen.ts';
import { say } from '../../kit/rpc.ts';
import { open } from '../peer.ts';

const newKey = () =>
  ({ ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), kid: 'k' }) as never;
const issuer = 'https://agent.example';

describe('Signed deliveries', () => {
  it.each([
    ['no credentials of its own', undefined],
    ['credentials of its own', { scheme: 'Bearer', credentials: 'secret' }],
  ])(
    'reach a webhook with %s, which knows the agent by its published keys [R-PUSH-22] [R-PUSH-30] [R-PUSH-42] [R-PUSH-44]',
    async (_, authentication) => {
      const key = newKey();
      const jwks = await listen(jwksHandler([key]));
      const got: AgentEvent[] = [];
      const hook: { url: string; handle: RequestListener } = { url: '', handle: () => {} };
      hook.url = await listen((request, response) => hook.handle(request, response));
      const receiver = webhookReceiver({
        authentication,
        expects: () => true,
        onEvent: (event) => void got.push(event),
        verify: verifyPush({ issuer, audience: hook.url, jwks }),
      });
      hook.handle = (request, response) => void receiver.handle(request, response);
      const { call } = await open(
        { binding: 'HTTP+JSON', adapter: 'in process', store: 'memory' },
        async function* () {
          yield working('On it');
          yield completed('Done');
        },
        { push: { allow: ['127.0.0.1'], sign: signPush({ key, issuer }) } },
      );
      const taskPushNotificationConfig = { url: hook.url, authentication };
      await call('SendMessage', { message: say('go'), configuration: { taskPushNotificationConfig } });
      await vi.waitFor(() =>
        expect(got.map((event) => event.statusUpdate?.status.state)).toContain('TASK_STATE_COMPLETED'),
      );
    },
  );

  it('by another signer are refused [R-PUSH-42]', async () => {
    const jwks = await listen(jwksHandler([newKey()]));
    const statuses: number[] = [];
    const got: AgentEvent[] = [];
    const hook: { url: string; handle: RequestListener } = { url: '', handle: () => {} };
    hook.url = await listen((request, response) => hook.handle(request, response));
    const receiver = webhookReceiver({
      expects: () => true,
      onEvent: (event) => void got.push(event),
      verify: verifyPush({ issuer, audience: hook.url, jwks }),
    });
    hook.handle = async (request, response) => {
      await receiver.handle(request, response);
      statuses.push(response.statusCode);
    };
    const { call } = await open(
      { binding: 'HTTP+JSON', adapter: 'in process', store: 'memory' },
      async function* () {
        yield completed('Done');
      },
      { push: { allow: ['127.0.0.1'], sign: signPush({ key: newKey(), issuer }) } },
    );
    const taskPushNotificationConfig = { url: hook.url };
    await call('SendMessage', { message: say('go'), configuration: { taskPushNotificationConfig } });
    await vi.waitFor(() => expect(statuses).toContain(401));
    expect(got).toEqual([]);
  });
});
