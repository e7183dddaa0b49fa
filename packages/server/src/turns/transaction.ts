import type { JsonOf, Turn } from '../agent/agent.ts';
import { asJson } from '../agent/message-content.ts';
import type { TransactionDatabase, TransactionKey } from '../agent/transaction.ts';

/** The transactions of a turn: steps whose result is recorded in the database before it is in the log. */
export const createTransaction =
  (turn: Omit<TransactionKey, 'name'>, step: Turn['step'], signal: AbortSignal): Turn['transaction'] =>
  async <Tx, T>(
    name: string,
    database: TransactionDatabase<Tx>,
    fn: (tx: Tx) => T | Promise<T>,
  ): Promise<JsonOf<T>> => {
    const run = async (tx: Tx): Promise<unknown> => {
      const result = asJson(`The result of the step "${name}"`, await fn(tx));
      // A turn that knows that it is over commits nothing more.
      signal.throwIfAborted();
      return result;
    };
    return (await step(name, () => database.once({ ...turn, name }, run, signal))) as JsonOf<T>;
  };
