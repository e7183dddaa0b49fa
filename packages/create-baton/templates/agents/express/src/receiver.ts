import { randomUUID } from 'node:crypto';
import { connect, isTerminal, textOf } from '@batonjs/client';
import { webhookReceiver } from '@batonjs/client/webhook-receiver';
import express from 'express';

/** Sends a message, and gets the updates of its task by a webhook instead of a connection. */
const { AGENT_URL = 'http://127.0.0.1:4000', API_KEY = '', HOOK_PORT = '4001' } = process.env;
const token = randomUUID();
let taskId: string | undefined;
const receiver = webhookReceiver({
  token,
  // An update may be here before the answer to the message, which names the task.
  expects: (id) => taskId === undefined || id === taskId,
  onEvent({ statusUpdate, artifactUpdate }) {
    const said = textOf(statusUpdate?.status.message ?? artifactUpdate?.artifact);
    console.log(statusUpdate?.status.state ?? 'Artifact', said);
    if (statusUpdate && isTerminal(statusUpdate)) setTimeout(() => http.close(), 100);
  },
});
const http = express().post('/hook', receiver.handle).listen(Number(HOOK_PORT), '127.0.0.1');
const agent = await connect(AGENT_URL, { headers: { 'X-API-Key': API_KEY } });
const { task } = await agent.send(process.argv.slice(2).join(' ') || '3 boxes', {
  returnImmediately: true,
  configuration: { taskPushNotificationConfig: { url: `http://localhost:${HOOK_PORT}/hook`, token } },
});
taskId = task?.id;
