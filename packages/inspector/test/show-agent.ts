import { once } from 'node:events';
import { extend, formInput, progress, skill, taskProgress, typedSkills } from '@batonjs/extensions';
import {
  append,
  artifact,
  authRequired,
  completed,
  data,
  failed,
  file,
  inputRequired,
  labels,
  link,
  reply,
  type Turn,
  text,
  type Updates,
  working,
} from '@batonjs/server';
import { z } from 'zod';

/** The smallest picture: one green pixel. */
export const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgqPv/HwAEIgKB8m3JzwAAAABJRU5ErkJggg==',
  'base64',
);

/** What a hostile agent would send: markup, scripts and pictures that report who looks at them. */
export const hostile = [
  '# Report <script>window.stolen = true</script>',
  '<img src="https://evil.example/pixel.png" onerror="window.stolen = true">',
  '![a picture](https://evil.example/other.png)',
  '[a link](javascript:window.stolen=true) and [a good one](https://example.com/)',
  '<style>body { display: none }</style><iframe src="https://evil.example"></iframe>',
  '<form action="https://evil.example"><input name="token"></form>',
].join('\n\n');

const report =
  '## Findings\n\n- **Revenue** grew\n- Costs fell\n\n| Quarter | Total |\n| --- | --- |\n| Q1 | 12 |\n';

/** An agent that shows everything an agent can send. `release` ends what `hold` began. */
export function showAgent(release: () => Promise<void>) {
  const convert = skill({
    id: 'convert',
    name: 'Convert',
    description: 'Converts an amount.',
    tags: ['money'],
    examples: ['chunks 12'],
    input: z.object({
      amount: z.number().describe('How much'),
      currency: z.enum(['EUR', 'USD']),
      isRounded: z.boolean().optional(),
    }),
    invalidInput: 'ask',
    question: () => 'Which amount, and in which currency?',
    async *run({ input: { amount, currency } }) {
      yield working('Converting', progress(1, 2));
      yield artifact('result', data({ amount: amount * 2, currency }));
      yield completed(`Twice ${amount} ${currency}`);
    },
  });
  const about = { name: 'Show', description: 'Shows everything that an agent can send.' };
  const { card, agent } = extend(typedSkills(about, convert), formInput, taskProgress);
  const answer: typeof agent = (turn) => {
    const [word = ''] =
      turn.messages
        .find(({ role }) => role === 'ROLE_USER')
        ?.parts.flatMap((part) => ('text' in part ? part.text.split(' ') : [])) ?? [];
    if (word === 'hello') return reply('Hello to you');
    return word in shows ? shows[word]!(turn, release) : agent(turn);
  };
  return { card, agent: answer };
}

type Show = (turn: Turn, release: () => Promise<void>) => Updates;

const shows: Readonly<Record<string, Show>> = {
  async *reserved() {
    yield { ...inputRequired('May it be paid?'), onlyBy: ['Ana'] };
  },
  async *chunks({ text: words }) {
    yield working('Writing');
    yield artifact('story', 'chunk 1 ');
    for (let n = 2; n <= Number(words.split(' ')[1] ?? 10); n += 1) yield append('story', `chunk ${n} `);
    yield completed('Written');
  },
  async *content() {
    yield artifact({ artifactId: 'report', name: 'report.md' }, text(report, { mediaType: 'text/markdown' }));
    yield artifact('numbers', data({ total: 12, quarters: [1, 2, 3] }));
    yield artifact('picture', file(pixel, { mediaType: 'image/png', filename: 'pixel.png' }));
    yield artifact('sound', file(wave, { mediaType: 'audio/wav', filename: 'beep.wav' }));
    yield artifact(
      'sheet',
      file(Buffer.from('a,b\n1,2\n'), { mediaType: 'text/csv', filename: 'sheet.csv' }),
    );
    yield completed(hostile);
  },
  async *remote({ text: words }) {
    yield artifact('far', link(words.split(' ')[1]!, { mediaType: 'image/png', filename: 'far.png' }));
    yield completed('Somewhere else');
  },
  async *draw({ text: words }) {
    yield artifact({ artifactId: `drawing-${words}`, name: 'drawing' }, text(`A drawing: ${words.slice(5)}`));
    yield completed();
  },
  async *auth({ messages }) {
    if (messages.length > 2) return yield completed('Thank you');
    yield authRequired('Allow the calendar at https://calendar.example/allow');
  },
  async *ask({ messages, text: words }) {
    if (messages.length > 2) return yield completed(`You said ${words}`);
    yield inputRequired('Which colour?');
  },
  async *hold({ signal }, release) {
    yield working('Holding');
    await Promise.race([release(), once(signal, 'abort')]);
    if (signal.aborted) return;
    yield artifact('held', 'Released');
    yield completed('Done');
  },
  async *steps({ step }) {
    await step('measure', async () => ({ metres: 3 }));
    await step('cut', async () => 'sharp');
    yield completed('Built');
  },
  async *log({ log, text: words }, release) {
    yield working('Baking');
    log.info('Oven on', { degrees: 220 });
    log.warn('Door open');
    log.error('Too hot', new Error('A sensor melted'));
    await release();
    const [, count = '1'] = words.split(' ');
    for (let n = 1; n <= Number(count); n += 1) log.info(`Loaf ${n}`);
    yield completed('Baked');
  },
  async *label({ text: words }) {
    const named = words.split(' ').filter((word) => word.includes(':'));
    yield labels(named.length > 0 ? named : ['vip', 'title:Journey of Ada']);
    yield completed('Done');
  },
  async *throw() {
    yield working('Heating');
    throw Object.assign(new Error('The oven is cold', { cause: new Error('No gas') }), { code: 'OVEN' });
  },
  async *models(turn) {
    // Loaded only now: most tests need no model.
    const { modelAgent } = await import('./model-agent.ts');
    yield* modelAgent(turn) as Updates;
  },
  async *fail() {
    yield working('Trying');
    yield failed('The printer is on fire');
  },
  async *parent({ text: words }) {
    const [, taskId, agent] = words.split(' ');
    const usage = { tokens: 1_200, costs: { USD: 12_300 } };
    yield { child: { name: 'other', agent: agent!, taskId: taskId!, usage } };
    yield completed('The other one is done');
  },
};

/** A tenth of a second of silence. */
const wave = (() => {
  const samples = 800;
  const bytes = Buffer.alloc(44 + samples, 0x80);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + samples, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8_000, 24);
  bytes.writeUInt32LE(8_000, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples, 40);
  return bytes;
})();
