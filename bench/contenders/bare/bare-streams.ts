/**
 * The floor under streams that a message begins: an Express app that parses the request, calls an agent that waits for
 * nothing, and writes the very events that Baton wrote, one by one. It keeps no tasks.
 */
import { createServer } from 'node:http';
import express from 'express';
import { listen } from '../../harness/listen.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { readId, type Sample, templateOf } from '../template.ts';

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
const [submitted, ...updates] = given<readonly Sample[]>().map(templateOf);

async function* agent() {
  for (const update of updates) yield update;
}

const app = express();
app.post('/', (req, res) =>
  readId(req, async (id) => {
    res.writeHead(200, headers);
    res.write(submitted!(id));
    for await (const update of agent()) res.write(update(id));
    res.end();
  }),
);
const url = await listen(createServer(app));

const questions = { ...vitals, url: () => url };
export type BareStreams = typeof questions;
answer(questions);
