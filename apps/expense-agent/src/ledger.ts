import type { Failure } from '@batonjs/server';

/** Keeps an approved expense, once per `key`. Resolves to the reason if it could not. */
export type Ledger = (
  expense: { readonly amount: number; readonly currency: string; readonly key: string },
  signal: AbortSignal,
) => Promise<Failure | undefined>;

/** Keeps nothing. */
export const noLedger: Ledger = async () => undefined;

/** A ledger that takes expenses by HTTP. The reason says whether it was unreachable or refused. */
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
