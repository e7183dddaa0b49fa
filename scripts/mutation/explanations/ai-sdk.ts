import type { Explanation } from './explanation.ts';

const model = 'packages/ai-sdk/src/model';

export const explanationsOfAiSdk: readonly Explanation[] = [
  {
    file: `${model}/a2a.ts`,
    line: '...(end?.providerMetadata && { providerMetadata: end.providerMetadata }),',
    replacements: ['end.providerMetadata'],
    why: 'No stream has it: each ends with what says how, or rejects.',
  },
  {
    file: `${model}/reply-parts.ts`,
    line: 'yield* this.#text(`status ${message.messageId}`, words);',
    replacements: ['``'],
    why: 'The same: no artifact has an empty id, so that the words are a block of their own.',
  },
  {
    file: 'packages/ai-sdk/src/chat/chunks.ts',
    line: 'yield* textChunks(task.status.message?.messageId ?? task.id, words);',
    replacements: ['task.status.message.messageId'],
    why: 'No task has it: its words are those of a message.',
  },
];
