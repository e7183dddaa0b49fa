import { card as boatCard, designBoat } from '@batonjs/boat-designer';
import { convertMoney, card as currencyCard } from '@batonjs/currency';
import { approveExpense, card as expenseCard } from '@batonjs/expense-agent';
import { card as tripCard, tripPlanner } from '@batonjs/trip-planner';
import type { GalleryAgent } from './gallery.ts';

/** Every agent of the gallery; the first one is the default agent. Each is served at `/agents/<name>`. */
export const agents: readonly [GalleryAgent, ...GalleryAgent[]] = [
  { name: 'expense', agent: approveExpense, card: expenseCard },
  { name: 'currency', agent: convertMoney, card: currencyCard, currentStatusInHistory: true },
  { name: 'boat-designer', agent: designBoat, card: boatCard },
  { name: 'trip-planner', agent: tripPlanner(), card: tripCard, restart: 'rerun' },
];
