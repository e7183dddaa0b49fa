/** The floor under both: Express with one route that answers what they answer, and nothing else. */
import { randomUUID } from 'node:crypto';
import express from 'express';

const app = express().post('/', express.json(), (req, res) => {
  const { id, params } = req.body;
  const ids = { taskId: randomUUID(), contextId: randomUUID() };
  const status = { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() };
  const parts = [{ text: `Hello, ${params.message.parts[0].text}!` }];
  const artifacts = [{ artifactId: 'greeting', name: 'greeting', parts }];
  const history = [{ ...params.message, ...ids }];
  const task = { id: ids.taskId, contextId: ids.contextId, status, artifacts, history };
  res.json({ jsonrpc: '2.0', id, result: { task } });
});
app.listen(Number(process.argv[2]), '127.0.0.1');
