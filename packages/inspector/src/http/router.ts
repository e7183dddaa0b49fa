/** The named parts of a path. */
export type Params = Readonly<Record<string, string>>;

/** Finds what belongs to a method and a path. */
export interface Router<Target> {
  find(method: string, path: string): { readonly target: Target; readonly params: Params } | undefined;
}

/** Routes by method and template, such as `GET /agents/:agent/tasks`. A named part is one decoded segment. */
export function router<Target>(routes: Readonly<Record<string, Target>>): Router<Target> {
  const table = Object.entries(routes).map(([rule, target]) => {
    const [method, template = ''] = rule.split(' ');
    return { method, segments: template.split('/'), target };
  });
  return {
    find(method, path) {
      const given = path.split('/');
      for (const { method: allowed, segments, target } of table) {
        if (allowed !== method || segments.length !== given.length) continue;
        const params = match(segments, given);
        if (params) return { target, params };
      }
      return undefined;
    },
  };
}

function match(segments: readonly string[], given: readonly string[]): Params | undefined {
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = given[index]!;
    if (!segment.startsWith(':')) {
      if (segment !== text) return undefined;
      continue;
    }
    try {
      params[segment.slice(1)] = decodeURIComponent(text);
    } catch {
      return undefined;
    }
  }
  return params;
}
