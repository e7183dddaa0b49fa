import type { Explanation } from './explanation.ts';

export const explanationsOfInspector: readonly Explanation[] = [
  {
    file: 'packages/inspector/src/clients/client-requests.ts',
    line: "/event-stream/.test(responseHeaders['content-type'] ?? '') ||",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither is a media type.',
  },
  {
    file: 'packages/inspector/src/http/read-json.ts',
    line: "if (!/^application\\/json\\b/i.test(request.headers['content-type'] ?? ''))",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither is a media type.',
  },
  {
    file: 'packages/inspector/src/inspector.ts',
    line: "const found = routes.find(request.method ?? 'GET', pathname.slice('/api'.length));",
    replacements: ['""'],
    why: 'The same: a request that a server got has a method.',
  },
  {
    file: 'packages/inspector/src/timeline/store-timeline.ts',
    line: 'let isNotified = false;',
    why: 'The same: it is set before it is read.',
  },
  {
    file: 'packages/inspector/src/wire/operation-of.ts',
    line: "const text = given[index] ?? '';",
    why: 'The same: a path with fewer segments than a rule differs in the first one.',
  },
  {
    file: 'packages/inspector/src/wire/operation-of.ts',
    line: "const [before = '', after = ''] = segment.split(/\\{\\w+\\}/);",
    replacements: ['"Stryker was here!"'],
    why: 'The same: what stands in for a missing part is not read.',
  },
];
