import type { Found } from '@batonjs/store/adapter';
import type { DatabaseRow } from '../database/database.ts';

export type Rows = readonly DatabaseRow[];

/** Statements without values, and what their rows tell. */
export interface Search {
  readonly statements: readonly string[];
  readonly found: (rows: readonly Rows[]) => Partial<Found>;
}

/** How rows are read: `'lock'` keeps those that it returns from others until the transaction ends. */
export type Mode = 'look' | 'lock';
