import { type ClientBinding, httpJsonClient, httpJsonServer, type ServerBinding } from '@batonjs/bindings';
import type { Say } from './loss.ts';

export function serveHttpJson(_say: Say, _isLenient: boolean): ServerBinding {
  return { ...httpJsonServer, version: '0.3' };
}

export function askHttpJson(_say: Say): ClientBinding {
  return { ...httpJsonClient, version: '0.3' };
}
