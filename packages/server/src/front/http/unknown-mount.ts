import { A2AError } from '@batonjs/protocol/errors';
import { AGENT_CARD_PATH } from '@batonjs/protocol/headers';
import type { Logger } from '../../base/hooks/logger.ts';
import type { HttpExchange } from './request-body.ts';

/** Whether nothing is at a path: a person, a monitor or an old client asks, perhaps for the card. */
export const isOfNoClient = ({ path }: HttpExchange, error: unknown): boolean =>
  path.length > 1 && A2AError.is(error, 'METHOD_NOT_FOUND');

/** The error for such a request. It does not repeat the path: a link may stand there, with its secret. */
export const strayRequest = (): A2AError =>
  new A2AError(
    'METHOD_NOT_FOUND',
    `Method not found: nothing is at this path; the card of the agent is at ${AGENT_CARD_PATH}`,
  );

/** Whether a request found nothing, perhaps because its adapter did not remove the path of the mount. */
export const isBelowUnknownMount = (exchange: HttpExchange, error: unknown): boolean =>
  exchange.isMountUnknown === true && isOfNoClient(exchange, error);

/** The error for such a request. The first one on each log is also logged. */
export function unknownMount({ path }: HttpExchange, logger: Logger): A2AError {
  const remedy = '`server.fetch` below a path needs a `publicUrl` with that path';
  if (!logged.has(logger)) logger('warn', `Nothing is at the path of a request: ${remedy}`, { path });
  logged.add(logger);
  return new A2AError('METHOD_NOT_FOUND', `Method not found: nothing is at ${path.slice(0, 200)}; ${remedy}`);
}

const logged = new WeakSet<Logger>();
