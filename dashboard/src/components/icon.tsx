/** Icons beside words, never instead of them. */
const paths = {
  overview: 'M3 12 12 4l9 8M5.5 10v10h13V10',
  key: 'M14.5 9.5a4.5 4.5 0 1 0-3.6 4.4L13 16h2v2h2v2h3v-3l-5.6-5.6c.07-.6.1-1.25.1-1.9ZM8.5 8.5h.01',
  activity: 'M4 20V10m5.3 10V4m5.4 16v-8M20 20V7',
  wallet: 'M4 7h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2h11M16 13.5h.01',
  models: 'M12 3 4 7.5v9L12 21l8-4.5v-9L12 3ZM4 7.5l8 4.5 8-4.5M12 12v9',
  chat: 'M4 5h16v11H9l-5 4V5Z',
  layers: 'm12 3 9 5-9 5-9-5 9-5Zm-9 9 9 5 9-5M3 16l9 5 9-5',
  plug: 'M9 3v5m6-5v5M6 8h12v3a6 6 0 0 1-12 0V8Zm6 9v4',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4l2-2Zm4 4h4',
  folder: 'M3 18V6h6l2 3h10v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1Z',
  people: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6 9a6 6 0 0 1 12 0m1-16a3.5 3.5 0 0 1 0 7m2 2.5a6 6 0 0 1 3 6.5',
  shield: 'M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6l-7-3Zm-3 9 2 2 4-4',
  settings: 'M4 7h10m4 0h2M4 17h2m4 0h10M14 7a2 2 0 1 0 4 0 2 2 0 0 0-4 0ZM6 17a2 2 0 1 0 4 0 2 2 0 0 0-4 0Z',
  operator: 'M4 5h16v6H4V5Zm0 8h16v6H4v-6Zm3-5h.01M7 16h.01',
  book: 'M5 4h12a2 2 0 0 1 2 2v14H7a2 2 0 0 1-2-2V4Zm0 14a2 2 0 0 1 2-2h12M9 8h6',
  calendar: 'M4 6h16v14H4V6Zm0 4h16M8 3v4m8-4v4',
  previous: 'm14 6-6 6 6 6',
  next: 'm10 6 6 6-6 6',
  save: 'M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 20h14',
  phone: 'M8 3h8v18H8V3Zm3 15h2',
  copy: 'M9 9h11v11H9V9Zm-5 6V4h11',
  check: 'm4 12.5 5 5L20 6.5',
  menu: 'M4 6h16M4 12h16M4 18h16',
  close: 'm5 5 14 14M19 5 5 19',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Zm0-5v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4',
  alert: 'M12 4 2.5 20h19L12 4Zm0 6v4.5m0 3h.01',
  offline: 'm3 3 18 18M8.5 15.5a5 5 0 0 1 7 0M5 12a10 10 0 0 1 4-2.4M19 12a10 10 0 0 0-5.5-2.8M12 19h.01',
  picture: 'M4 5h16v14H4V5Zm0 11 5-5 4 4 2.5-2.5L20 17M9 9h.01',
  external: 'M13 4h7v7M20 4l-9 9M18 14v6H4V6h6',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
