/** The floor under everything that is served with `node:http`: parses a request and answers the bytes of a sample. */
import { createServer } from 'node:http';
import { listen } from '../../harness/listen.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { readId, respond, type Sample, templateOf } from '../template.ts';

const template = templateOf(given<Sample>());
const http = createServer((req, res) => readId(req, (id) => respond(res, template(id))));
const url = await listen(http);

const questions = { ...vitals, url: () => url };
export type Floor = typeof questions;
answer(questions);
