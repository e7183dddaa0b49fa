import type { CardInput } from '@batonjs/server';

/** The currency agent's agent card. */
export const card: CardInput = {
  name: 'Currency agent',
  description: 'Converts money at fixed sample rates, in English and Chinese, and asks for what is missing.',
  skills: [
    {
      id: 'convert',
      name: 'Convert money',
      description: 'Takes an amount and two currencies, as text or as data, in one message or several.',
      tags: ['currency', 'money', 'convert', 'exchange'],
      examples: [
        '10美元等于多少?',
        'How much is 10 USD in EUR?',
        '{"amount": 10, "from": "USD", "to": "EUR"}',
      ],
    },
  ],
};
