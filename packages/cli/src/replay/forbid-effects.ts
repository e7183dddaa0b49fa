import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

type Functions = Record<string, unknown>;

/** What reaches the world outside of a process, and leaves something there. */
const effects: readonly (readonly [target: object, what: string, names: readonly string[]])[] = [
  [net.Socket.prototype, 'a connection', ['connect']],
  [dgram.Socket.prototype, 'a datagram', ['send', 'connect']],
  [childProcess, 'a program', ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']],
  [
    fs,
    'a change of a file',
    [
      'writeFile',
      'writeFileSync',
      'appendFile',
      'appendFileSync',
      'createWriteStream',
      'rm',
      'rmSync',
      'unlink',
      'unlinkSync',
      'rename',
      'renameSync',
      'mkdir',
      'mkdirSync',
    ],
  ],
  [fs.promises, 'a change of a file', ['writeFile', 'appendFile', 'rm', 'unlink', 'rename', 'mkdir']],
];

/**
 * Lets connections, programs and changes of files fail in this process, until the returned function is called. Code that
 * tries one gets an error with the code `REPLAY_EFFECT`.
 */
export function forbidEffects(): () => void {
  const restored: (() => void)[] = [];
  for (const [target, what, names] of effects)
    for (const name of names) {
      const functions = target as Functions;
      const original = functions[name];
      functions[name] = () => {
        throw Object.assign(new Error(`${name}: ${what} is an effect outside of a step`), {
          code: 'REPLAY_EFFECT',
        });
      };
      restored.push(() => {
        functions[name] = original;
      });
    }
  // A branch of the agent that is not waited for any more may fail.
  const ignore = () => {};
  process.on('unhandledRejection', ignore);
  syncBuiltinESMExports();
  return () => {
    for (const restore of restored) restore();
    process.off('unhandledRejection', ignore);
    syncBuiltinESMExports();
  };
}
