const paths = {
  agent: 'M12 3v3M6 9h12v9H6zM9.5 13v1M14.5 13v1M3 12v3M21 12v3',
  tasks: 'M4 6h2M4 12h2M4 18h2M9 6h11M9 12h11M9 18h11',
  send: 'M4 12 20 4l-5 16-4-7z',
  graph:
    'M4 6a2 2 0 1 0 4 0 2 2 0 1 0-4 0M4 18a2 2 0 1 0 4 0 2 2 0 1 0-4 0M16 12a2 2 0 1 0 4 0 2 2 0 1 0-4 0M8 7l8 4M8 17l8-4',
  wire: 'M4 8h14l-4-4M20 16H6l4 4',
  card: 'M4 5h16v14H4zM8 10h8M8 14h5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  back: 'M15 5l-7 7 7 7',
  live: 'M12 12h.01M8 8a5.7 5.7 0 0 0 0 8M16 8a5.7 5.7 0 0 1 0 8',
  message: 'M4 5h16v11H9l-5 4z',
  status: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4l3 2',
  artifact: 'M6 3h8l4 4v14H6zM14 3v4h4',
  turn: 'M20 12a8 8 0 1 1-3-6.2M17 2v4h4',
  step: 'M5 12l4 4 10-10',
  lease: 'M8 11V8a4 4 0 0 1 8 0v3M6 11h12v9H6z',
  delivery: 'M3 7h18v11H3zM3 8l9 6 9-6',
  connection: 'M9 15l6-6M7 12l-2 2a3.5 3.5 0 0 0 5 5l2-2M17 12l2-2a3.5 3.5 0 0 0-5-5l-2 2',
  deadline: 'M7 3h10M7 21h10M8 3v4l4 5 4-5V3M8 21v-4l4-5 4 5v4',
  cancel: 'M6 6l12 12M18 6 6 18',
  check: 'M5 13l4 4L19 7',
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17h.01',
  kill: 'M13 2 5 13h6l-1 9 8-11h-6z',
  theme: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M16 16l4 4',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  schedules: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  inbox: 'M4 13h5l1.5 3h3L15 13h5M4 13 7 5h10l3 8v6H4z',
  lock: 'M8 11V8a4 4 0 0 1 8 0v3M6 11h12v9H6z',
} as const;

/** The name of a picture. */
export type IconName = keyof typeof paths;

/** A small picture beside text that says the same. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);
