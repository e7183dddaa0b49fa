import type { Failure } from '@batonjs/server';

/** Keeps an approved expense, once per `key`. Resolves to why it could not, if it could not. */
export type Ledger = (
  expense: { readonly amount: number; readonly currency: string; readonly key: string },
  signal: AbortSignal,
) => Promise<Failure | undefined>;

/** Keeps nothing. */
export const noLedger: Ledger = async () => undefined;

/** A ledger that takes expenses by HTTP. One that cannot be reached, or refuses, is told as such. */
export const httpLedger =
  (url: string): Ledger =>
  async (expense, signal) => {
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(expense), signal }).catch(
      () => undefined,
    );
    if (reply?.ok) return undefined;
    return {
      code: 'LEDGER_UNAVAILABLE',
      message: 'The ledger cannot be reached, try again later',
      retryable: true,
    };
  };
