import { tick } from '@batonjs/server/due';
import { server } from '../src/main.ts';

/** Works on all that is due. The cron of `vercel.json` comes with `CRON_SECRET`; others sign with it. */
const run = tick(server, { secret: process.env.CRON_SECRET, bearer: true, forMs: 50_000 });

export { run as GET, run as POST };
