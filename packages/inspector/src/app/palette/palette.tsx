import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useSession } from '../data/session.ts';
import { Icon } from '../parts/icon.tsx';
import { fixedChoices, type PaletteChoice, shortcutOf } from './choices.ts';
import { useFoundTasks } from './use-found-tasks.ts';

/** The most choices that are shown. */
const most = 12;

/** Goes to any page, agent or task by a few letters: Ctrl-K opens it. Other keys go to pages at once. */
export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    let before = '';
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setOpen(true);
        return;
      }
      const isTyping = (event.target as HTMLElement).closest('input, textarea, select, dialog');
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '/') {
        event.preventDefault();
        document.getElementById('search')?.focus();
      }
      const href = shortcutOf(before + event.key);
      before = event.key === 'g' ? 'g' : '';
      if (href) location.hash = href;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to" onClose={() => setOpen(false)}>
      {isOpen && <Search onChoose={() => dialog.current?.close()} />}
    </dialog>
  );
}

function Search({ onChoose }: { readonly onChoose: () => void }) {
  const { agents } = useSession();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useFoundTasks(text.trim());
  const wanted = text.trim().toLowerCase();
  const fixed = fixedChoices(agents).filter(({ name }) => name.toLowerCase().includes(wanted));
  const choices = [...fixed, ...found].slice(0, most);
  const go = (choice: PaletteChoice | undefined) => {
    if (!choice) return;
    location.hash = choice.href;
    onChoose();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') go(choices[at]);
    if (event.key !== 'Enter' && step === undefined) return;
    event.preventDefault();
    if (step) setAt((at + step + choices.length) % Math.max(1, choices.length));
  };
  return (
    <>
      <label class="palette-search">
        <Icon name="search" />
        <span class="visually-hidden">Page, agent or task</span>
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={choices.length > 0 ? `${id}-${at}` : undefined}
          placeholder="Page, agent or task"
          value={text}
          autocomplete="off"
          onKeyDown={press}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
        />
      </label>
      <div id={id} class="palette-choices" role="listbox" aria-label="Choices">
        {choices.map((choice, index) => (
          <a
            key={choice.href}
            id={`${id}-${index}`}
            class="palette-choice"
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            href={choice.href}
            onClick={onChoose}
          >
            <Icon name={choice.icon} />
            <span class="cell-title">{choice.name}</span>
            <span class="muted palette-note">{choice.note}</span>
          </a>
        ))}
      </div>
      {choices.length === 0 && <p class="muted">Nothing is called so.</p>}
    </>
  );
}
