import { useState } from 'preact/hooks';

/** Members that are shown before the rest is unfolded. */
const most = 100;

/** JSON as a tree that can be folded. Nothing in it is taken for HTML. */
export function JsonView({ value, open = 2 }: { readonly value: unknown; readonly open?: number }) {
  return (
    <div class="json">
      <Value value={value} open={open} />
    </div>
  );
}

function Value({ value, open }: { readonly value: unknown; readonly open: number }) {
  if (typeof value === 'string') return <span class="json-text">{JSON.stringify(value)}</span>;
  if (typeof value !== 'object' || value === null) return <span class="json-plain">{String(value)}</span>;
  return <Members value={value} open={open} />;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

function Members({ value, open }: { readonly value: object; readonly open: number }) {
  const [shown, setShown] = useState(most);
  const [isOpen, setOpen] = useState(open > 0);
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  if (members.length === 0) return <span class="json-plain">{isList ? '[]' : '{}'}</span>;
  return (
    <details class="json-members" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {isList ? '[' : '{'}
        <span class="json-count">{count(members.length, isList ? 'item' : 'member')}</span>
        {isList ? ']' : '}'}
      </summary>
      {isOpen && (
        <ul>
          {members.slice(0, shown).map(([name, member]) => (
            <li key={name}>
              <span class="json-name">{name}</span>
              <span class="json-colon">: </span>
              <Value value={member} open={open - 1} />
            </li>
          ))}
          {members.length > shown && (
            <li>
              <button type="button" class="button button-quiet" onClick={() => setShown(shown + 1_000)}>
                {members.length - shown} more
              </button>
            </li>
          )}
        </ul>
      )}
    </details>
  );
}
