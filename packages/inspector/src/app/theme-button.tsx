import { useEffect, useState } from 'preact/hooks';
import { Icon } from './parts/bits.tsx';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];
const key = 'baton-inspector-theme';

const stored = (): Theme => themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system';

/** Chooses between light, dark, and what the system says. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(key, theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!;
  return (
    <button
      type="button"
      class="button button-quiet"
      onClick={() => setTheme(next)}
      aria-label={`Colours: ${theme}. Change to ${next}`}
    >
      <Icon name="theme" />
      <span class="theme-name">{theme.replace(/^./, (letter) => letter.toUpperCase())}</span>
    </button>
  );
}
