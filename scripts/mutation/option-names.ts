/** For Stryker: leaves out mutations that the compiler refuses. */

interface NodePath {
  readonly node: Node;
  readonly parentPath?: NodePath | null;
}

interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly id?: { readonly typeAnnotation?: { readonly typeAnnotation?: TypeNode } };
}

/** `Name<…>`, as Babel has it. */
interface TypeNode {
  readonly typeName?: { readonly name?: string };
  readonly typeArguments?: { readonly params: readonly (TypeNode & { readonly literal?: Node })[] };
}

/**
 * Why a node is not mutated: it is a `true` in a table of names, whose declared type is `OptionNames<…>` or
 * `Record<…, true>`. No other value has that type, and only the names are read. Undefined for any other node.
 */
export function whyLeftOut({ node, parentPath: property }: NodePath): string | undefined {
  if (node.type !== 'BooleanLiteral' || node.value !== true || property?.node.type !== 'ObjectProperty')
    return undefined;
  const type = property.parentPath?.parentPath?.node.id?.typeAnnotation?.typeAnnotation;
  const value = type?.typeArguments?.params[1]?.literal?.value;
  const { name } = type?.typeName ?? {};
  const isTable = name === 'OptionNames' || (name === 'Record' && value === true);
  return isTable ? 'Only the names are read, and no other value has the type of the table' : undefined;
}

class OptionNames {
  static readonly inject = [] as const;

  shouldIgnore(path: NodePath): string | undefined {
    return whyLeftOut(path);
  }
}

/** Read by Stryker. */
export const strykerPlugins = [{ kind: 'Ignore', name: 'option-names', injectableClass: OptionNames }];
