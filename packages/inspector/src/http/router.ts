/** The named parts of a path. */
type Params = Readonly<Record<string, string>>;

/** Routes by method and template, such as `GET /agents/:agent/tasks`. A named part is one decoded segment. */
export function router<Target>(routes: Readonly<Record<string, Target>>) {
  const table = Object.entries(routes).map(([rule, target]) => {
    const [method, template = ''] = rule.split(' ');
    return { method, segments: template.split('/'), target };
  });
  return {
    /** Finds what belongs to a method and a path. */
    find(method: string, path: string) {
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
