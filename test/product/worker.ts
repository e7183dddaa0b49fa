import { createWorker } from '@batonjs/server/worker';
import { shared } from './shared.ts';

const { MAIL_URL = '', APPROVER = 'ana@shop.example' } = process.env;

const worker = createWorker({
  ...shared,
  onEvent(event) {
    if (event.type !== 'transition' || event.to !== 'TASK_STATE_INPUT_REQUIRED') return;
    const { taskId, caller, tenant } = event;
    worker
      .answerLink(taskId, { caller, tenant, answeredBy: APPROVER, expiresMs: 48 * 3_600_000 })
      .then(({ url }) => fetch(MAIL_URL, { method: 'POST', body: `To ${APPROVER}: please decide: ${url}` }))
      .catch((error) => console.error('The mail was not sent', error));
  },
});
console.log('The worker works');
process.once('SIGTERM', () => worker.close({ graceMs: 20_000 }).then(() => process.exit()));
