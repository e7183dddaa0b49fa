import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Collects garbage now. `minor` collects young objects only. */
export const collect = runInNewContext('gc') as (options: { readonly type: 'minor' | 'major' }) => void;
setFlagsFromString('--no-expose-gc');
