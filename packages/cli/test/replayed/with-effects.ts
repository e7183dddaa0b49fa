import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { type Agent, artifact, completed } from '@batonjs/server';

/** What it does outside of a step. */
const effects: Readonly<Record<string, () => unknown>> = {
  file: () => writeFileSync(String(process.env.EFFECT_FILE), 'written'),
  program: () => spawnSync('touch', [String(process.env.EFFECT_FILE)]),
  connection: () => connect(Number(process.env.EFFECT_PORT)),
  fetch: () => fetch(`http://127.0.0.1:${process.env.EFFECT_PORT}/?token=secret`),
};

const agent: Agent = async function* ({ text, step }) {
  await effects[String(process.env.EFFECT)]?.();
  const price = await step('price', () => 7);
  yield artifact('invoice', `${text}: ${price}`);
  yield completed();
};

export default agent;
