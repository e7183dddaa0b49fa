/** Chooses whose tasks are shown, where there is a choice. */
export function ScopeChoice({
  scopes,
  scope,
}: {
  readonly scopes: readonly string[];
  readonly scope: number;
}) {
  if (scopes.length < 2) return null;
  const choose = (index: string) => {
    const [path, query = ''] = location.hash.split('?');
    const next = new URLSearchParams(query);
    next.set('scope', index);
    location.hash = `${path}?${next}`;
  };
  return (
    <label class="scope-choice">
      Tasks of
      <select value={scope} onChange={(event) => choose(event.currentTarget.value)}>
        {scopes.map((label, index) => (
          <option key={label} value={index}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
