import { tryJson } from '@batonjs/protocol/json';
import { type Operation, operationNames, operations } from '@batonjs/protocol/operations';

/** The binding and the operation of an HTTP request, as far as it says. */
export function operationOf(
  method: string,
  url: string,
  body: string | undefined,
): { readonly binding?: string; readonly operation: string } {
  const rpc = body?.includes('"jsonrpc"') ? methodOf(body) : undefined;
  if (rpc) return { binding: 'JSONRPC', operation: rpc };
  const { pathname } = new URL(url);
  if (/\.json$/.test(pathname)) return { operation: 'agent card' };
  for (const name of operationNames) {
    const { http }: Operation = operations[name];
    if (http.some((rule) => fits(rule, method, pathname))) return { binding: 'HTTP+JSON', operation: name };
  }
  return { binding: 'HTTP+JSON', operation: `${method} ${pathname.split('/').slice(-2).join('/')}` };
}

function methodOf(body: string): string | undefined {
  const { method } = Object(tryJson(body)) as { method?: unknown };
  return typeof method === 'string' ? method : undefined;
}

/** Whether a path ends as a rule does: the path of the agent stands before it. */
function fits(rule: string, method: string, pathname: string): boolean {
  const [allowed, template = ''] = rule.split(' ');
  if (allowed !== method) return false;
  const segments = template.split('/').slice(1);
  const given = pathname.split('/').slice(-segments.length);
  return segments.every((segment, index) => {
    const text = given[index] ?? '';
    const [before = '', after = ''] = segment.split(/\{\w+\}/);
    if (!segment.includes('{')) return segment === text;
    return (
      text.length > before.length + after.length &&
      text.endsWith(after) &&
      (after !== '' || !text.includes(':'))
    );
  });
}
