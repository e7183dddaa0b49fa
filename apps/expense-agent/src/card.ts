import type { CardInput, SkillInput } from '@batonjs/server';

/** The expense agent's agent card. */
export const about: CardInput = {
  name: 'Expense agent',
  description: 'Approves expenses, and asks for what is missing.',
};

/** The skill in the card. */
export const approval: SkillInput = {
  id: 'approve-expense',
  name: 'Approve an expense',
  description: 'Takes an amount and a currency, as data or as text, and approves amounts above zero.',
  tags: ['expense', 'finance'],
  examples: ['100 USD', '{"amount": 100, "currency": "USD"}'],
};
