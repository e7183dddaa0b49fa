import { type Agent, artifact, completed, failed, inputRequired, labels, working } from '@batonjs/server';

/** What a version of the agent does otherwise. */
export type Change =
  | 'nothing'
  | 'another text'
  | 'artifact instead of a status'
  | 'fetches outside of a step'
  | 'forgets a step'
  | 'another memory'
  | 'keeps a step'
  | 'more labels'
  | 'no invoice'
  | 'one more update'
  | 'one more step'
  | 'another question'
  | 'fails at the end'
  | 'throws'
  | 'another callback'
  | 'another time'
  | 'no time'
  | 'another schema'
  | 'forgets another value'
  | 'renames a step'
  | 'one more step, whose error it catches';

const database = {
  once: (_key: unknown, run: (tx: undefined) => Promise<unknown>) => run(undefined),
};

const hour = 3_600_000;

/** An agent with all that a log records. `live`: the time of a server; in a replay, no effect may happen. */
export function orderAgent(change: Change = 'nothing', live?: () => number): Agent {
  const now = live ?? (() => Date.now());
  const effect = <T>(value: T): T => {
    if (!live) throw new Error('An effect happened');
    return value;
  };
  return async function* (turn) {
    const { step, memory, text, messages } = turn;
    const is = (other: Change) => change === other;
    const wasAsked = memory.get('order') !== undefined || memory.get('placed') !== undefined;
    if (!wasAsked) {
      yield working(`Order ${text} ${crypto.randomUUID()} at ${new Date().toISOString()}`);
      if (is('fetches outside of a step')) await fetch('https://prices.example/?key=secret');
      if (is('one more step')) await step('audit', () => effect(1));
      if (is('one more step, whose error it catches')) await step('audit', () => effect(1)).catch(() => {});
      const price = is('forgets a step')
        ? 7
        : await step(is('renames a step') ? 'cost' : 'price', () => effect(7));
      await memory.set(is('another memory') ? 'placed' : 'order', { price });
      await memory.set('draft', 1);
      await memory.set('note', 1);
      await memory.delete(is('forgets another value') ? 'note' : 'draft');
      const booked = await turn.transaction('book', database, async () => effect(`b-${price}`));
      const key = await turn.idempotencyKey('charge');
      const retry = { retries: 2, backoff: { initialMs: 1, maxMs: 1 } };
      await step('charge', retry, ({ attempt }) => {
        if (attempt === 1) throw new Error('Busy');
        return effect(key.length);
      });
      if (is('artifact instead of a status')) yield artifact('note', 'Charged');
      else yield working(is('another text') ? 'Paid' : 'Charged');
      if (is('one more update')) yield working('And more');
      if (!is('no invoice')) yield artifact('invoice', `${booked}: ${price}`);
      yield labels(is('more labels') ? ['eu', 'new'] : ['eu']);
      await step('receipt', is('keeps a step') ? { keep: 'task' } : {}, () => effect('r'));
      const schema = { type: is('another schema') ? 'string' : 'boolean' };
      await turn.callback({
        name: is('another callback') ? 'paid' : 'payment',
        schema,
        expiresMs: 10 * hour,
      });
      await turn.wakeAt(is('no time') ? undefined : now() + (is('another time') ? 2 : 1) * hour);
      if (is('throws')) throw new Error('A bug');
      return yield inputRequired(is('another question') ? 'Which street?' : 'Where to?');
    }
    if (turn.woken) {
      yield working('Reminded');
      return void (await turn.wakeAt(now() + hour));
    }
    const [weight] = await Promise.all([
      step('weigh', { keep: 'task' }, () => effect(3)),
      step('pack', () => effect('box')),
    ]);
    yield artifact('parcel', `${weight} kg to ${text}, ${messages.length} messages`);
    yield is('fails at the end') ? failed({ code: 'NO_TRUCK', message: 'No truck' }) : completed('Sent');
  };
}
