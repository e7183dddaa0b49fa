import type { CardInput } from '@batonjs/server';

/** The boat designer's agent card. */
export const card: CardInput = {
  name: 'Boat designer',
  description: 'Draws sailboats, and changes the colours of what it drew.',
  skills: [
    {
      id: 'draw-sailboat',
      name: 'Draw a sailboat',
      description:
        'Draws a sailboat on the ocean, with hull and sails in the colours that are asked for. Refers to an earlier picture by task or artifact.',
      tags: ['image', 'boat', 'sailboat', 'draw', 'design'],
      examples: ['Generate an image of a sailboat on the ocean.', 'Please modify the sailboat to be red.'],
      outputModes: ['image/png'],
    },
  ],
};
