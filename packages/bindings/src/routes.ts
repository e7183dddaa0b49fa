import { type OperationName, operationNames, operations } from '@batonjs/protocol/operations';

/** One segment of a path template: fixed text, or a field of the request with fixed text after it. */
interface Segment {
  readonly field: string | undefined;
  readonly text: string;
}

/** A path template with the operation that each of its methods stands for. */
interface Route {
  readonly segments: readonly Segment[];
  readonly operations: Map<string, OperationName>;
}

/** A field of the request that stands in the path, still percent-encoded. */
export type PathField = readonly [name: string, encoded: string];

/** The operation of a path, or the methods that the path has instead of the requested one. */
export type RouteMatch =
  | { readonly operation: OperationName; readonly fields: readonly PathField[] }
  | { readonly allow: readonly string[] };

/** All routes by their number of segments; of two that fit, the one with more fixed text comes first. */
const routes: ReadonlyMap<number, readonly Route[]> = /* @__PURE__ */ compileRoutes();

/**
 * Finds the operation of a method and a path. Returns undefined for a path that no route has. A path without tenant takes
 * precedence over one whose first segment is a tenant. A field may be empty, and the operation then refuses it: `/tasks/`
 * is a task without id, not the list. A slash after a whole path is ignored. Spec: §11.3.
 */
export function matchRoute(method: string, path: string): RouteMatch | undefined {
  const [root, ...parts] = path.split('/');
  if (root !== '') return undefined;
  const match = matchTenanted(method, parts);
  if ((match && 'operation' in match) || parts.at(-1) !== '' || parts.at(-2) === '') return match;
  return matchTenanted(method, parts.slice(0, -1)) ?? match;
}

function matchTenanted(method: string, parts: readonly string[]): RouteMatch | undefined {
  const [tenant = '', ...rest] = parts;
  const plain = matchParts(method, parts);
  if ((plain && 'operation' in plain) || tenant === '') return plain;
  const tenanted = matchParts(method, rest);
  if (!tenanted || 'allow' in tenanted) return plain ?? tenanted;
  return { operation: tenanted.operation, fields: [['tenant', tenant], ...tenanted.fields] };
}

function matchParts(method: string, parts: readonly string[]): RouteMatch | undefined {
  for (const route of routes.get(parts.length) ?? []) {
    const fields = fieldsOf(route, parts);
    if (!fields) continue;
    const operation = route.operations.get(method);
    return operation ? { operation, fields } : { allow: [...route.operations.keys()] };
  }
  return undefined;
}

function fieldsOf({ segments }: Route, parts: readonly string[]): PathField[] | undefined {
  const fields: PathField[] = [];
  for (const [index, { field, text }] of segments.entries()) {
    const part = parts[index]!;
    if (field === undefined) {
      if (part !== text) return undefined;
    } else {
      if (!part.endsWith(text)) return undefined;
      fields.push([field, part.slice(0, part.length - text.length)]);
    }
  }
  return fields;
}

function compileRoutes(): Map<number, Route[]> {
  const byTemplate = new Map<string, Route>();
  for (const operation of operationNames) {
    for (const rule of operations[operation].http) {
      const [method = '', template = ''] = rule.split(' ');
      const route = byTemplate.get(template) ?? { segments: segmentsOf(template), operations: new Map() };
      route.operations.set(method, operation);
      byTemplate.set(template, route);
    }
  }
  const fixed = ({ segments }: Route) => segments.reduce((length, { text }) => length + text.length, 0);
  const sorted = [...byTemplate.values()].sort((a, b) => fixed(b) - fixed(a));
  const byLength = new Map<number, Route[]>();
  for (const route of sorted) {
    const { length } = route.segments;
    byLength.set(length, [...(byLength.get(length) ?? []), route]);
  }
  return byLength;
}

function segmentsOf(template: string): Segment[] {
  return template
    .slice(1)
    .split('/')
    .map((segment) => {
      const [, field, text = segment] = /^\{(\w+)\}(.*)$/.exec(segment) ?? [];
      return { field, text };
    });
}
