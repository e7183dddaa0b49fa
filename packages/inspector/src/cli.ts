#!/usr/bin/env node
import { runProgram } from './program.ts';

const { argv, stdout, stderr } = process;
const running = await runProgram({ argv: argv.slice(2), stdout, stderr });
if (typeof running === 'number') process.exitCode = running;
else {
  const stop = () => running.close();
  process.on('SIGINT', stop).on('SIGTERM', stop);
}
