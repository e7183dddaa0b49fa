import { guardHook } from '@batonjs/protocol/hooks';
import type { Logger } from './logger.ts';
import type { Telemetry } from './telemetry.ts';

/** The logger, guarded: it never throws, whatever the given one does. Lines in a span of telemetry name it. */
export const guardLogger = (logger: Logger, telemetry?: Pick<Telemetry, 'active'>): Logger =>
  guardHook('The logger', (level, message, details) => {
    const span = telemetry?.active?.();
    return logger(level, message, span ? { ...withErr(details), ...span } : withErr(details));
  });

/** The server names errors `error`. Under that name, pino and bunyan would write an `Error` as `{}`. */
function withErr(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('error' in details)) return details;
  const { error: err, ...rest } = details;
  return { ...rest, err };
}
