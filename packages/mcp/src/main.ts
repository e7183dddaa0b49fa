#!/usr/bin/env node
import { runProgram } from './program.ts';

const { argv, env, stdin, stdout, stderr } = process;
const running = await runProgram({ argv: argv.slice(2), env, stdin, stdout, stderr });
if (typeof running === 'object') {
  const stop = () => void running.close().then(() => process.exit());
  process.once('SIGINT', stop).once('SIGTERM', stop);
} else if (running > 0) process.exit(running);
