import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { StreamResponse } from '@batonjs/protocol';
import type { PushConfig } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/kit/until.ts';
import { attempt, type WebhookRequest } from '../../src/webhooks/attempt.ts';
import type { UnsignedDelivery } from '../../src/webhooks/sign-push.ts';
import { type PushOptions, pushFormat } from '../../src/webhooks/webhooks.ts';
import { push } from './kit/push-config.ts';
import { begin, delivering } from './kit/stored-task.ts';
import { type Reaction, webhook } from './kit/webhook.ts';

const event = { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } };
const config = (url: string, more: Partial<PushConfig['config']> = {}) => ({
  config: { taskId: 't', id: 'w', url, ...more },
});
const webhookRequest = (url: string, more: Partial<WebhookRequest> = {}): WebhookRequest => ({
  push: push(url),
  id: 'delivery',
  format: pushFormat,
  event: event as StreamResponse,
  ...more,
});
const open = new AbortController().signal;

/** What becomes of one attempt on a webhook that reacts so. */
async function once(reaction: Reaction, options: PushOptions = {}) {
  const hook = await webhook(() => reaction);
  return attempt(webhookRequest(hook.url()), delivering(options).dependencies, open);
}

describe('an attempt [R-PUSH-26] [R-PUSH-27]', () => {
  it('is over, tried again, or tried again a few times, by the status of the answer', async () => {
    let status = 0;
    const hook = await webhook(() => status);
    const { dependencies } = delivering();
    const outcomes: Record<string, number[]> = {};
    for (status of [
      200, 299, 300, 399, 400, 401, 403, 404, 405, 408, 409, 410, 411, 424, 425, 426, 428, 429, 430, 499, 500,
      599,
    ]) {
      const result = await attempt(webhookRequest(hook.url()), dependencies, open);
      expect(result.status).toBe(status);
      if (!result.delivered) expect(result.reason).toBe(`answered ${status}`);
      const outcome = result.delivered ? 'delivered' : result.retry;
      outcomes[outcome] = [...(outcomes[outcome] ?? []), status];
    }
    expect(outcomes).toEqual({
      delivered: [200, 299],
      yes: [408, 425, 429, 500, 599],
      few: [300, 399, 404, 410],
      skip: [400, 405, 409, 411, 424, 426, 428, 430, 499],
      no: [401, 403],
    });
  });

  it('says how long the webhook asks to wait', async () => {
    const asked = (header: string) => (response: ServerResponse) =>
      void response.writeHead(503, { 'retry-after': header }).end();
    expect(await once(asked('7'))).toEqual({
      delivered: false,
      status: 503,
      reason: 'answered 503',
      retry: 'yes',
      afterMs: 7_000,
    });
    const date = new Date(begin - 250 + 9_000).toUTCString();
    expect(await once(asked(date))).toMatchObject({ afterMs: 8_750 });
    expect(await once(503)).toMatchObject({ afterMs: undefined });
  });

  it.each(['its time is over', 'the server closes'])('without an answer ends when %s', async (what) => {
    const closing = new AbortController();
    const hook = await webhook(() => () => {});
    const { dependencies, pass, log } = delivering({ timeoutMs: 20_000 });
    const result = attempt(webhookRequest(hook.url()), dependencies, closing.signal);
    await eventually(() => expect(hook.received).toHaveLength(1));
    pass(19_999);
    if (what === 'the server closes') closing.abort();
    else pass(1);
    const reason = 'no answer within 20000 ms';
    expect([await result, log]).toEqual([{ delivered: false, reason, retry: 'yes' }, []]);
  });

  it('that finds no connection says why, without anything of the error but its code', async () => {
    // Nothing listens there: only the system may.
    expect(await attempt(webhookRequest('http://127.0.0.1:1/'), delivering().dependencies, open)).toEqual({
      delivered: false,
      reason: 'connection ECONNREFUSED',
      retry: 'yes',
    });
    expect(await once((response) => void response.destroy())).toMatchObject({
      reason: 'connection ECONNRESET',
    });
    for (const error of [new Error('of the resolver'), 'of the resolver']) {
      const resolve = () => Promise.reject(error);
      const { dependencies } = delivering({ resolve });
      expect(await attempt(webhookRequest('https://example.com/'), dependencies, open)).toEqual({
        delivered: false,
        reason: 'connection failed',
        retry: 'yes',
      });
    }
  });

  it('on an address that is not allowed is left to processes that may [R-PUSH-40]', async () => {
    expect(await once(200, { allow: [] })).toEqual({
      delivered: false,
      reason: 'URL must lead to a public address',
      retry: 'no',
      isRefusedHere: true,
    });
  });

  it('that cannot be signed or encoded is logged and tried again', async () => {
    const error = new Error('No key');
    const fail = () => {
      throw error;
    };
    const signed = delivering({ sign: () => Promise.reject(error) });
    const encoded = delivering();
    const url = (await webhook()).url();
    for (const [{ dependencies, log }, more] of [
      [signed, {}],
      [encoded, { format: { ...pushFormat, encode: fail } }],
    ] as const) {
      const result = await attempt(webhookRequest(url, more), dependencies, open);
      expect(result).toEqual({ delivered: false, reason: 'could not be made', retry: 'yes' });
      expect(log).toEqual([['error', 'A delivery could not be made', { taskId: 't', error }]]);
    }
  });
});

describe('the request of an attempt', () => {
  /** What arrives, without the headers that every request has. */
  async function sent(
    more: Partial<WebhookRequest>,
    given: Partial<PushConfig['config']>,
    options?: PushOptions,
  ) {
    const hook = await webhook();
    const { dependencies } = delivering(options);
    const made = { ...webhookRequest(hook.url(), more), push: push('', 'w', config(hook.url(), given)) };
    expect(await attempt(made, dependencies, open)).toEqual({ delivered: true, status: 200 });
    const { headers, ...rest } = hook.received[0]!;
    const { 'content-length': _length, connection: _connection, host: _host, ...own } = headers;
    return { ...rest, url: hook.url(), headers: own };
  }

  it('names the sender, the format and the delivery, and what telemetry adds [R-PUSH-20] [R-PUSH-30]', async () => {
    const basic = {
      'content-type': 'application/a2a+json',
      'user-agent': 'Baton',
      'a2a-version': '1.0',
      'webhook-id': 'delivery',
    };
    const plain = await sent({}, {});
    expect([plain.method, plain.headers, plain.event]).toEqual(['POST', basic, event]);
    const traced = await sent({ headers: { traceparent: '00', 'user-agent': 'other' } }, {});
    expect(traced.headers).toEqual({ ...basic, traceparent: '00' });
  });

  it('carries the credentials and the token of the webhook, and no empty ones [R-PUSH-22] [R-PUSH-23]', async () => {
    const scheme = await sent({}, { authentication: { scheme: 'Bearer' }, token: '' });
    expect(scheme.headers).toMatchObject({ authorization: 'Bearer' });
    expect(scheme.headers).not.toHaveProperty('x-a2a-notification-token');
    const both = await sent({}, { authentication: { scheme: 'Basic', credentials: 'x' }, token: 'tok' });
    expect(both.headers).toMatchObject({ authorization: 'Basic x', 'x-a2a-notification-token': 'tok' });
  });

  it.each([true, false])(
    'is signed over its body and time; with credentials of its own: %s [R-PUSH-44]',
    async (authorized) => {
      const signed: UnsignedDelivery[] = [];
      const sign = (delivery: UnsignedDelivery) => {
        signed.push(delivery);
        return { 'X-Signature': 'abc', 'Webhook-Id': 'other' };
      };
      const given = authorized ? { authentication: { scheme: 'Bearer' } } : {};
      const { headers, text, url } = await sent({}, given, { sign });
      expect(headers).toMatchObject({ 'x-signature': 'abc', 'webhook-id': 'delivery' });
      const iat = (begin - 250) / 1_000;
      expect(signed).toEqual([
        {
          claims: {
            jti: 'delivery',
            aud: url,
            iat,
            exp: iat + 300,
            taskId: 't',
            request_body_sha256: createHash('sha256').update(text).digest('hex'),
          },
          body: text,
          authorized,
        },
      ]);
    },
  );
});
