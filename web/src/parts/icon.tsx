/** Line drawings on a 24 × 24 grid. */
const paths = {
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  clip: "M20 11.5l-8.2 8.2a5 5 0 0 1-7.1-7.1l8.6-8.6a3.3 3.3 0 0 1 4.7 4.7l-8.6 8.6a1.7 1.7 0 0 1-2.4-2.4l7.9-7.9",
  copy: "M9 9h10v11H9zM5 15V4h10",
  check: "M5 12.5l4.5 4.5L19 7.5",
  close: "M6 6l12 12M18 6L6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  edit: "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
  again: "M4 12a8 8 0 0 1 13.7-5.6L20 8.5M20 4v4.5h-4.5M20 12a8 8 0 0 1-13.7 5.6L4 15.5M4 20v-4.5h4.5",
  inspect: "M4 6v12M4 12h16M9 9v6M14 7v10M19 10v4",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  chevron: "M9 6l6 6-6 6",
  tool: "M14.5 6.5a4 4 0 0 0-5.3 5.3L4 17l3 3 5.2-5.2a4 4 0 0 0 5.3-5.3L15 12l-3-3z",
  thought: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.6 10.8c.7.6 1.1 1.3 1.1 2.2h5c0-.9.4-1.6 1.1-2.2A6 6 0 0 0 12 3z",
  note: "M5 4h14v11l-5 5H5zM14 20v-5h5",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  warning: "M12 4L2.8 20h18.4zM12 10v4.5M12 17.2v.3",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  screen: "M3 5h18v11H3zM8 20h8M12 16v4",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  down: "M12 5v14M6 13l6 6 6-6",
  previous: "M6 5v14M19 5l-10 7 10 7z",
  next: "M18 5v14M5 5l10 7-10 7z",
} as const;

export type IconName = keyof typeof paths;

/** A decorative icon next to a text, or in a button with a name. It is hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
