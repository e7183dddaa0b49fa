#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { runCli } from './run-cli.ts';
import { interrupted } from './run-context.ts';

const stop = new AbortController();
const end = () => {
  // The second one ends it at once. One Ctrl-C reaches what `dev` serves up to three times, and `dev` ends that itself.
  if (stop.signal.aborted && process.argv[2] !== 'serve-file') process.exit(interrupted);
  stop.abort(new Error('Interrupted'));
};
process.on('SIGINT', end).on('SIGTERM', end);
let isLost = false;
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A reader such as `head` that has enough ends the pipe. Work that goes on says how far it came.
  stop.abort(new Error('Interrupted'));
  if (code === 'EPIPE' || isLost) return;
  isLost = true;
  process.stderr.write(`${message}\n`);
});

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const name = basename(process.argv[1] ?? '').replace(/\.[cm]?[jt]s$/, '');
const { stdout, stderr, stdin, env } = process;
const program = name === 'a2a-cli' ? name : 'baton';
const io = { stdout, stderr, stdin, env, cwd: process.cwd(), home: homedir(), program, signal: stop.signal };
const code = await runCli(process.argv.slice(2), io, version);
// Connections that are kept open would keep the process alive. An error of the last write is told after its callback.
const exit = () => process.exit(code || Number(isLost));
stdout.write('', () => stderr.write('', () => setImmediate(exit)));
