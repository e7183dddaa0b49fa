import type { Exception } from './checklist.ts';

/** Rows that need no test, each with the reason. A row that has one must not stand here. */
export const exceptions: readonly Exception[] = [
  {
    kind: 'not shipped',
    ids: ['R-STATE-18'],
    reason: 'No way to pass credentials inside the protocol is offered: they come out of band (R-STATE-15).',
  },
  {
    kind: 'not for code',
    ids: ['R-BIND-04'],
    reason:
      'TLS is where the server is put, see [deploy](../operating/deploy.md); what this code contacts by itself (webhooks, keys) has TLS unless it is allowed otherwise.',
  },
];
