import type { CardInput } from '@batonjs/server';

/** The trip planner's agent card. */
export const card: CardInput = {
  name: 'Trip planner',
  description: 'Tells in messages what trips it can book, and books them in tasks that build on each other.',
  skills: [
    {
      id: 'book-trip',
      name: 'Book a trip',
      description:
        'Books a flight, then a hotel and a snowmobile, then a spa for the hotel; each in a task of its own.',
      tags: ['trip', 'travel', 'flight', 'hotel', 'snowmobile', 'spa', 'book'],
      examples: ['Can you arrange a trip to Helsinki?', 'Book a flight to Helsinki', 'Book a hotel'],
    },
  ],
};
