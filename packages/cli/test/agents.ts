import { extend, progress, taskProgress } from '@batonjs/extensions';
import {
  type Agent,
  type AgentServerOptions,
  artifact,
  authRequired,
  completed,
  data,
  failed,
  inputRequired,
  reply,
  type Turn,
  type Updates,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';

/** An agent that does what the first word of a message says. */
export const many: Agent = (turn) => {
  const [word = ''] = turn.text.split(/\s/);
  if (word === 'message') return reply('Just a message');
  return work(turn, word);
};

async function* work({ text, messages, message, signal, inbox }: Turn, word: string): Updates {
  const answered = messages.filter(({ role }) => role === 'ROLE_USER').length > 1;
  const first = messages[0]!.parts.map((part) => ('text' in part ? part.text : '')).join('');
  if (first.startsWith('ask') && !answered) return yield inputRequired('Which currency?');
  if (word === 'auth') {
    yield authRequired('Sign in first');
    await inbox.take();
    return yield completed();
  }
  if (word === 'fail') return yield failed({ code: 'NO_MONEY', message: 'The purse is empty' });
  yield working('Working');
  if (word === 'endless') {
    await untilAborted(signal);
    return;
  }
  if (word === 'all')
    yield artifact(
      'everything',
      { text: 'Hello\n\nWorld' },
      { data: { total: 3 } },
      { raw: Buffer.from('bytes').toString('base64'), filename: 'a.bin', mediaType: 'application/x-test' },
      { url: 'https://files.example/b.pdf', filename: 'b.pdf', mediaType: 'application/pdf' },
    );
  else if (word === 'colours') yield artifact('evil', '\u001b[31mred\u0007 \u009b2J');
  else if (word === 'parts') yield artifact('parts', data(JSON.parse(JSON.stringify(message.parts))));
  else yield artifact('echo', `You said ${text}`);
  yield completed();
}

/** Serves the agent until the test ends. Resolves to its URL. */
export const serveMany = (options: Partial<AgentServerOptions> = {}): Promise<string> =>
  listen(nodeHandler(serve(many, { card: manyCard, ...options })));

export const manyCard = {
  name: 'Many',
  description: 'Does what it is told',
  defaultInputModes: ['*/*'],
  defaultOutputModes: ['*/*'],
};

/** An agent that reports its progress, step by step as the test opens the gates. */
export function serveSteps(gates: readonly Promise<void>[]): Promise<string> {
  const stepping = extend(
    {
      card: { name: 'Steps', description: 'Reports progress' },
      agent: async function* () {
        for (const [n, gate] of gates.entries()) {
          yield working(`Step ${n + 1}`, progress(n, gates.length));
          await gate;
        }
        yield artifact('done', 'Done');
        yield completed();
      },
    },
    taskProgress,
  );
  const { agent, ...rest } = stepping;
  return listen(nodeHandler(serve(agent, rest)));
}
