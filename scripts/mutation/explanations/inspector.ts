import type { Explanation } from './explanation.ts';

export const explanationsOfInspector: readonly Explanation[] = [
  {
    file: 'packages/inspector/src/clients/client-secrets.ts',
    line: 'return text.replace(/^(data: ?|)(.+)$/gm, (line, field: string, rest: string) => {',
    replacements: ['/(data: ?|)(.+)$/gm'],
    why: 'The same: the first match begins with the line, and takes all of it.',
  },
  {
    file: 'packages/inspector/src/inspector.ts',
    line: "params: { agent: '', task: '', ...found.params },",
    replacements: ['"Stryker was here!"'],
    why: 'The same: a route reads only what its path names.',
  },
  {
    file: 'packages/inspector/src/routes/act-routes.ts',
    line: /^\.\.\.\((taskId|contextId|viewer\.name) !== undefined && \{ (taskId|contextId|sentBy: viewer\.name) \}\),$/,
    replacements: ['true'],
    why: 'The same: `sendMessage` looks again whether there is one.',
  },
];
