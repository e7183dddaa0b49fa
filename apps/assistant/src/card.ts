import type { CardInput } from '@batonjs/server';

/** The assistant's agent card. */
export const card: CardInput = {
  name: 'Assistant',
  description: 'Answers with a language model and remembers the conversation.',
  skills: [
    {
      id: 'chat',
      name: 'Chat',
      description: 'Answers questions, its text streamed as it comes.',
      tags: ['chat', 'assistant'],
      examples: ['What is the capital of Finland?'],
    },
  ],
};
