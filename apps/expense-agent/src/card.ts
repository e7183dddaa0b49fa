import type { CardInput, SkillInput } from '@batonjs/server';

/** What the expense agent says about itself. */
export const about: CardInput = {
  name: 'Expense agent',
  description: 'Approves expenses, and asks for what is missing.',
};

/** What it says about its skill. */
export const approval: SkillInput = {
  id: 'approve-expense',
  name: 'Approve an expense',
  description: 'Takes an amount and a currency, as data or as text, and approves amounts above zero.',
  tags: ['expense', 'finance'],
  examples: ['100 USD', '{"amount": 100, "currency": "USD"}'],
};
