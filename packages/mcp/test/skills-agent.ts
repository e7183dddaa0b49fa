import {
  type Extendable,
  extend,
  formInput,
  inputRequired as formRequired,
  progress,
  skill,
  taskError,
  taskProgress,
  typedSkills,
} from '@batonjs/extensions';
import {
  append,
  artifact,
  authRequired,
  canceled,
  completed,
  data,
  failed,
  file,
  inputRequired,
  link,
  text,
  working,
} from '@batonjs/server';
import { z } from 'zod';

const nothing = z.object({});

/** Lets a test hold the skill `slow`, and see that it was canceled. */
export interface Gate {
  open: Promise<void>;
  onCancel?: () => void;
}

/** An agent with a skill for everything that an MCP server has to translate. */
export function skillsAgent(gate: Gate): Extendable {
  const divide = skill({
    id: 'math.divide',
    name: 'Divide',
    description: 'Divides one number by another',
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ quotient: z.number() }),
    async *run({ input: { a, b } }) {
      if (b === 0) return yield failed({ code: 'DIVISION_BY_ZERO', message: 'Nothing divides by zero' });
      yield artifact('result', data({ quotient: a / b }));
      yield completed();
    },
  });
  const book = skill({
    id: 'book',
    name: 'Book',
    description: 'Books a room',
    input: nothing,
    async *run(turn) {
      const { nights, city } = turn.values as { nights?: number; city?: string };
      if (!nights || !city) {
        const form = z.object({ city: z.string().min(2), nights: z.int().min(1).max(30) });
        return yield formRequired('Where and how long?', { form, title: 'Room', initial: { city: 'Rome' } });
      }
      yield artifact('booking', `${nights} nights in ${city}`);
      yield completed();
    },
  });
  const nest = skill({
    id: 'nest',
    name: 'Nest',
    description: 'Asks for what no flat form can hold',
    input: nothing,
    async *run(turn) {
      if (turn.messages.length > 1) return yield completed(`You said ${turn.text}`);
      const form = z.object({ nights: z.int(), place: z.object({ city: z.string() }) });
      yield formRequired('Which place?', { form });
    },
  });
  const name = skill({
    id: 'name',
    name: 'Name',
    description: 'Asks twice in plain text',
    input: nothing,
    async *run(turn) {
      const answers = turn.messages.filter(({ role }) => role === 'ROLE_USER').length - 1;
      if (answers === 0) yield inputRequired('Your first name?');
      else if (answers === 1) yield inputRequired('Your last name?');
      else {
        const said = turn.messages.slice(1).flatMap(({ role, parts }) => (role === 'ROLE_USER' ? parts : []));
        yield completed(said.map((part) => ('text' in part ? part.text : '')).join(' '));
      }
    },
  });
  const files = skill({
    id: 'files',
    name: 'Files',
    description: 'Gives one part of each kind',
    input: nothing,
    async *run() {
      const bytes = new TextEncoder().encode('bytes');
      yield artifact(
        'all',
        text('words'),
        data([1, 2]),
        file(bytes, { mediaType: 'image/png' }),
        file(bytes, { mediaType: 'audio/wav' }),
        file(bytes, { mediaType: 'application/pdf', filename: 'a.pdf' }),
        link('https://example.com/b.csv', { filename: 'b.csv', mediaType: 'text/csv' }),
      );
      yield completed('Done');
    },
  });
  const slow = skill({
    id: 'slow',
    name: 'Slow',
    description: 'Works until the test lets it end',
    input: nothing,
    async *run(turn) {
      yield working('Reading', progress(1, 4));
      yield working('Thinking');
      yield artifact('text', 'one ');
      await Promise.race([gate.open, aborted(turn.signal)]);
      if (turn.signal.aborted) {
        gate.onCancel?.();
        return yield canceled();
      }
      yield working('Writing', progress(3, 4));
      yield append('text', 'two');
      yield completed();
    },
  });
  const sign = skill({
    id: 'sign',
    name: 'Sign',
    description: 'Needs an authorization',
    input: nothing,
    async *run() {
      yield authRequired('Open https://example.com/sign');
    },
  });
  const broken = skill({
    id: 'broken',
    name: 'Broken',
    description: 'Throws',
    input: nothing,
    // biome-ignore lint/correctness/useYield: it fails before it yields.
    async *run() {
      throw new Error('secret inside');
    },
  });
  const card = { name: 'Skills', description: 'Has a skill for everything', version: '1.2.3' };
  const agent = typedSkills(card, divide, book, nest, name, files, slow, sign, broken);
  return extend(agent, formInput, taskProgress, taskError);
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
