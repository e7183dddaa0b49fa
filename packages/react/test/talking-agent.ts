import { type AgentClient, connect } from '@batonjs/client';
import { inputRequired as ask, extend, formInput } from '@batonjs/extensions';
import { FORM_INPUT } from '@batonjs/extensions/client';
import {
  type Agent,
  type AgentServer,
  append,
  artifact,
  completed,
  createAgentServer,
  data,
  reply,
  type TaskUpdate,
  working,
} from '@batonjs/server';
import { type Listening, listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { untilAborted } from '../../../test/kit/until-aborted.ts';

/** What the test lets the agent do. */
export class Gate {
  #open = Promise.withResolvers<void>();

  /** Lets all go on that wait, and those that come. */
  open(): void {
    this.#open.resolve();
  }

  get passed(): Promise<void> {
    return this.#open.promise;
  }
}

const form = z.object({ amount: z.number(), fast: z.boolean().optional() });

/**
 * `hello` is answered with a message, `hold` runs until a cancel, `slow` writes the second half of its text at the gate, `ask` asks
 * with a form, `chunks <n>` writes so many.
 */
const talking =
  (gate: Gate): Agent =>
  ({ text, values, signal }) => {
    if (text === 'hello') return reply('Hello!');
    return (async function* (): AsyncGenerator<TaskUpdate, void> {
      yield working('Thinking');
      if (text === 'hold') return void (await untilAborted(signal));
      if (text === 'ask') return yield ask('How much?', { form, title: 'Amount' });
      if ('amount' in values) yield artifact('result', data(values));
      else if (text.startsWith('chunks')) {
        yield artifact('text', '');
        for (let n = 0; n < Number(text.split(' ')[1]); n += 1) yield append('text', `${n} `);
      } else {
        yield artifact('text', 'Half ');
        if (text === 'slow') await gate.passed;
        yield append('text', 'and whole');
      }
      yield completed();
    })();
  };

export interface Talking {
  readonly agent: AgentClient;
  readonly url: string;
  readonly port: number;
  readonly server: AgentServer;
  /** Closes the server as a restart does, and serves the same tasks again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The agent on a port of this machine, until the test ends. */
export async function serveTalking(gate = new Gate()): Promise<Talking> {
  const store = memoryStore();
  const open = () =>
    createAgentServer({
      ...extend({ card: { name: 'Talking', description: 'Talks' }, agent: talking(gate) }, formInput),
      store,
      logger: () => {},
      restart: 'rerun',
      cors: true,
      timeouts: { leaseMs: 1_000 },
      messages: { idempotency: true },
    });
  let server = open();
  let listening: Listening = await listen(server);
  const { url } = listening;
  const port = Number(new URL(url).port);
  onTestFinished(async () => {
    gate.open();
    await listening.close({ graceMs: 0 });
  });
  return {
    agent: await connect(url, { extensions: [FORM_INPUT], retry: { firstMs: 10 } }),
    url,
    port,
    get server() {
      return server;
    },
    stop: () => listening.close({ graceMs: 0 }),
    async restart() {
      await listening.close({ graceMs: 0 });
      server = open();
      listening = await listen(server, { port });
    },
  };
}
