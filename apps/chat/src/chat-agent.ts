import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Agent,
  append,
  artifact,
  type CardInput,
  completed,
  data,
  failed,
  file,
  inputRequired,
  type Part,
  type TaskUpdate,
  type Turn,
  text,
  working,
} from '@batonjs/server';

/** The card of the agent of the chat. */
export const chatCard: CardInput = {
  name: 'Chat',
  description:
    'A scripted agent, without a model: it tells a story, shows the weather, draws, and asks before it deletes.',
  skills: [
    {
      id: 'chat',
      name: 'Chat',
      description: 'Answers in a chat.',
      tags: ['chat', 'steps', 'restart'],
      examples: ['Tell me a story', 'How is the weather?', 'Draw a boat', 'Delete the draft'],
      inputModes: ['text/plain', 'image/*'],
    },
  ],
};

/** Options of `chatAgent`. */
export interface ChatAgentOptions {
  /** What it waits for before each sentence of a story. Default: 400 ms. */
  readonly pause?: (signal: AbortSignal) => Promise<unknown>;
}

const story = [
  'A small boat left the harbour at dawn.',
  'Its captain had one letter to deliver.',
  'At noon the engine stopped without a sound.',
  'The captain wrote down how far they had come.',
  'A wave took the wheel, and the night took the wave.',
  'In the morning another captain found the page.',
  'She read it, turned the key, and sailed on from there.',
  'The letter arrived, and no line of it was missing.',
];

/** An agent without a model, whose answers show what a page must handle. */
export const chatAgent = ({
  pause = (signal) => sleep(400, undefined, { signal }),
}: ChatAgentOptions = {}): Agent =>
  async function* (turn) {
    const [first] = turn.messages;
    const asked = first?.parts.map((part) => ('text' in part ? part.text : '')).join(' ') ?? '';
    yield working('Thinking');
    const files = first?.parts.filter((part) => 'raw' in part || 'url' in part) ?? [];
    if (files.length > 0) return yield* describe(turn, files);
    if (/delete/i.test(asked)) return yield* deleteDraft(turn);
    if (/weather/i.test(asked)) return yield* showWeather();
    if (/draw/i.test(asked)) return yield* draw();
    if (/fail/i.test(asked)) return yield failed('The printer is out of paper. Fill it, and try again.');
    const [, count] = /chunks (\d+)/.exec(asked) ?? [];
    if (count) return yield* writeChunks(Math.min(Number(count), 20_000));
    yield* writeStory(turn, pause);
  };

type Updates = AsyncGenerator<TaskUpdate, void, void>;

/** Each sentence is a step: an attempt after a kill begins with those that are there. */
async function* writeStory(
  { step, signal, attempt }: Turn,
  pause: (signal: AbortSignal) => Promise<unknown>,
): Updates {
  const written: string[] = [];
  let isShown = attempt === 1;
  for (const [index, sentence] of story.entries()) {
    let isNew = false;
    written.push(
      await step(`sentence ${index + 1}`, async () => {
        isNew = true;
        await pause(signal);
        return `${sentence} `;
      }),
    );
    if (!isNew && index < story.length - 1) continue;
    yield index === 0 || !isShown
      ? artifact('answer', written.join(''))
      : append('answer', written.at(-1) ?? '');
    isShown = true;
  }
  yield completed();
}

async function* writeChunks(count: number): Updates {
  yield artifact('answer', '');
  for (let number = 1; number <= count; number += 1) {
    yield append('answer', `word${number} `);
    if (number % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  yield completed();
}

/** Says what was sent: a scripted agent sees nothing in a picture. */
async function* describe({ file }: Turn, parts: readonly Part[]): Updates {
  const lines: string[] = [];
  for (const part of parts) {
    const { length } = await file(part).bytes();
    lines.push(`- **${part.filename}**: ${length} bytes of ${part.mediaType}`);
  }
  yield artifact('answer', `Thank you, I have\n\n${lines.join('\n')}`);
  yield completed();
}

const call = { toolCallId: 'weather', toolName: 'weather', input: { place: 'Oulu' } };

const shown = (content: object): TaskUpdate =>
  working({ messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts: [data(content)] });

async function* showWeather(): Updates {
  yield shown({ ...call, state: 'called' });
  yield shown({ ...call, state: 'done', output: { degrees: 7, sky: 'clear' } });
  yield artifact('answer', forecast);
  yield completed();
}

const forecast = `It is **7 degrees** in Oulu, and the sky is clear.

| Day | Degrees | Sky |
| --- | ---: | --- |
| Monday | 7 | clear |
| Tuesday | 5 | rain, later sun |

As code, for [your own page](https://example.com/weather):

\`\`\`ts
const weather = { place: 'Oulu', degrees: 7, sky: 'clear' };
\`\`\`
`;

async function* draw(): Updates {
  yield artifact(
    'boat',
    file(new TextEncoder().encode(boat), { mediaType: 'image/svg+xml', filename: 'boat.svg' }),
  );
  yield artifact('answer', 'A boat.');
  yield completed();
}

const boat = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 80" role="img"><title>A boat</title>
<path fill="#2b6cb0" d="M0 60h120v20H0z"/><path fill="#744210" d="M20 50h80l-12 16H32z"/><path fill="#e53e3e" d="M58 10v36H30z"/></svg>`;

const deletion = { toolCallId: 'delete', toolName: 'delete', input: { path: 'draft.txt' } };

/** Asks first. The answer comes in the next turn, in any process. */
async function* deleteDraft({ messages, values, step }: Turn): Updates {
  if (messages.filter(({ role }) => role === 'ROLE_USER').length === 1)
    return yield inputRequired([
      text('May I delete draft.txt?'),
      data({ toolCalls: [{ ...deletion, needs: 'approval' }] }, { mediaType: 'application/json' }),
    ]);
  const { approved } = Object(values.delete) as { approved?: boolean };
  if (approved) {
    await step('delete', async () => 'deleted');
    yield shown({ ...deletion, state: 'done', output: 'deleted' });
  } else yield shown({ ...deletion, state: 'denied' });
  yield artifact('answer', approved ? 'draft.txt is deleted.' : 'draft.txt stays.');
  yield completed();
}
