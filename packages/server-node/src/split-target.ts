/**
 * Splits the target of a request where the mount ends. `pattern` is the path of the mount as the framework was given it:
 * each of its segments stands for one of the target, so that it may have parameters.
 */
export function splitTarget(
  target: string,
  pattern: string,
): { readonly mount: string; readonly below: string } {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const count = pattern.split('/').filter(Boolean).length;
  const pieces = path.split(/(?=[/?#])/);
  return { mount: pieces.slice(0, count).join(''), below: pieces.slice(count).join('') };
}
