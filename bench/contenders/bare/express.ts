/** The floor under everything that is served with Express: one route that parses a request and answers the bytes of a sample. */
import { createServer } from 'node:http';
import express from 'express';
import { listen } from '../../harness/listen.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { readId, respond, type Sample, templateOf } from '../template.ts';

const template = templateOf(given<Sample>());
const app = express().post('/', (req, res) => readId(req, (id) => respond(res, template(id))));
const url = await listen(createServer(app));

answer({ ...vitals, url: () => url });
