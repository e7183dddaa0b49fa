import type { PushConfig } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/kit/until.ts';
import { FailingWebhooks } from '../../src/webhooks/hosts/failing-webhooks.ts';
import { send, servePushing } from './kit/serve-pushing.ts';
import { heard } from './kit/settings.ts';
import { webhook } from './kit/webhook.ts';
import { stores } from './stores.ts';

const day = 86_400_000;

describe.each(stores)('with %s', (_name, create) => {
  it('deliveries that wait for their host go as soon as it answers another one [R-PUSH-26]', async () => {
    let isUp = false;
    const hook = await webhook(() => (isUp ? 200 : 503));
    const unhurried = { retry: { baseDelayMs: day, maxDelayMs: day } };
    const server = servePushing(create()(), unhurried);
    for (let n = 0; n < 5; n++) await send(server, { url: hook.url(`/${n}`) });
    await eventually(() => expect(hook.received).toHaveLength(5));
    isUp = true;
    await send(server, { url: hook.url('/5') });
    await hook.until(6 * heard.length);
    expect(new Set(hook.received.map(({ path }) => path)).size).toBe(6);
  });
});

const push = (id: string, host = 'example.com') =>
  ({ scope: 's', taskId: 't', id, config: { url: `https://${host}/${id}` } }) as PushConfig;
const down = { isRejection: false, mayBeEarly: true };
const idsAt = (failing: FailingWebhooks, host = 'example.com') => failing.takeEarly(host).map(({ id }) => id);

describe('the webhooks that failed', () => {
  it('are hurried when their own host answers, once per failure', () => {
    const failing = new FailingWebhooks();
    for (const id of ['a', 'b']) failing.failed(push(id), down);
    failing.failed(push('c', 'other.example'), down);
    expect([idsAt(failing), idsAt(failing)]).toEqual([['a', 'b'], []]);
    failing.failed(push('b'), down);
    expect(idsAt(failing)).toEqual(['b']);
  });

  it('are not hurried if they asked to be left alone, work, or were given up', () => {
    const failing = new FailingWebhooks();
    failing.failed(push('asked'), { isRejection: false, mayBeEarly: false });
    failing.failed(push('over'), down);
    failing.over(push('over'));
    failing.over(push('never failed'));
    expect(idsAt(failing)).toEqual([]);
  });

  it('are not hurried forever where only they fail', () => {
    const failing = new FailingWebhooks();
    let hurried = 0;
    for (let n = 0; n < 20; n++) {
      failing.failed(push('a'), down);
      hurried += idsAt(failing).length;
    }
    expect(hurried).toBe(3);
    failing.over(push('a'));
    failing.failed(push('a'), down);
    expect(idsAt(failing)).toEqual(['a']);
  });

  it('that were postponed without an attempt are hurried like the others', () => {
    const failing = new FailingWebhooks();
    for (let n = 0; n < 20; n++) {
      failing.postponed(push('a'));
      expect(idsAt(failing)).toEqual(['a']);
    }
  });

  it('are forgotten, the oldest first, when there are too many', () => {
    const failing = new FailingWebhooks();
    for (let n = 0; n < 10_002; n++) failing.failed(push(`${n}`), down);
    const ids = idsAt(failing);
    expect([ids.length, ids[0]]).toEqual([10_000, '2']);
  });
});
