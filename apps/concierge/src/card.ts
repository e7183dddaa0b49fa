import type { CardInput } from '@batonjs/server';

/** The concierge's agent card. */
export const card: CardInput = {
  name: 'Concierge',
  description:
    'Has other agents do what it is asked: convert money, draw boats, book trips, approve expenses.',
  skills: [
    {
      id: 'delegate',
      name: 'Have it done',
      description:
        'Finds the agent that can do it, hands on questions and answers, and cancels what it started.',
      tags: ['concierge', 'delegate'],
      examples: ['How much is 10 USD?', 'Book a flight to Helsinki', 'Draw a red boat'],
    },
  ],
};
