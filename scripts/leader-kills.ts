/**
 * `pnpm leader-kills --commits 100 --seed 1`: kills the leader of an etcd cluster at every commit, before, during or after
 * it, then compares what was acknowledged with what each member keeps. The last line says how many facts were lost, are
 * there twice, or differ between members; the exit code is 1 if any was.
 */
import { parseArgs } from 'node:util';
import { leaderKills } from './leader-kills/leader-kills.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: { commits: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const { details, ...report } = await leaderKills({ commits: Number(values.commits), seed: values.seed });
for (const detail of details.slice(0, 30)) console.error(detail);
console.log(JSON.stringify(report));
process.exit(details.length > 0 ? 1 : 0);
