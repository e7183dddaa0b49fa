/** How many colours there are. */
const colours = 6;

/** The first letter of an agent's name in a colour that stays the same for its id. */
export function AgentMark({ id, name }: { readonly id: string; readonly name: string }) {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 9_973;
  const [letter = '?'] = name.trim();
  return (
    <span class={`agent-mark agent-mark-${sum % colours}`} aria-hidden="true">
      {letter.toUpperCase()}
    </span>
  );
}
