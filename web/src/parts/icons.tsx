// SPDX-License-Identifier: Apache-2.0
// Icons as paths on a grid of 24, drawn with the text's colour.
const paths = {
  notebook: "M5 4h14v16H5zM9 4v16M12 9h4M12 13h4",
  branches: "M6 4v16M6 14c0-4 12-2 12-7M18 7V4M6 4v0M18 4v0M18 20v-3",
  approvals: "M5 5h14v14H5zM9 12l2.5 2.5L16 10",
  runs: "M8 5l11 7-11 7z",
  daemon: "M4 19V5M4 19h16M8 15l4-5 3 3 5-7",
  tools: "M14 6l4 4-9 9H5v-4zM12 8l4 4",
  tokens: "M14 4a6 6 0 1 1-4.5 10L4 19.5V16l5-5A6 6 0 0 1 14 4zM15.5 8.5v0",
  ask: "M9 9a3 3 0 1 1 4 2.8c-.7.3-1 .8-1 1.7M12 17v.2M4 12a8 8 0 1 0 16 0 8 8 0 0 0-16 0",
  chat: "M4 5h16v11H10l-5 4v-4H4z",
  more: "M5 12v.2M12 12v.2M19 12v.2",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  stop: "M7 7h10v10H7z",
  check: "M5 12l5 5 9-10",
  download: "M12 4v11M7 10l5 5 5-5M5 20h14",
  upload: "M12 16V5M7 10l5-5 5 5M5 20h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4 4",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  keyboard: "M3 7h18v10H3zM7 11v0M11 11v0M15 11v0M8 14h8",
  signout: "M14 5H5v14h9M10 12h10M17 9l3 3-3 3",
  bookmark: "M7 4h10v16l-5-4-5 4z",
  undo: "M8 6L4 10l4 4M4 10h10a5 5 0 0 1 0 10h-3",
  replay: "M6 8a8 8 0 1 1-1.5 7M5 3v6h6",
  compare: "M5 5h5v14H5zM14 5h5v14h-5z",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  play: "M8 5l11 7-11 7z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  table: "M4 5h16v14H4zM4 10h16M4 15h16M10 5v14",
  attach: "M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.3a3 3 0 0 1 4.3 4.3L9.7 16a1.5 1.5 0 0 1-2.1-2.1L14 7.5",
  warning: "M12 4l9 16H3zM12 10v4M12 17v.2",
  copy: "M8 8h11v12H8zM5 16V4h11",
} as const;

export type IconName = keyof typeof paths;

/** An icon beside words. Alone in a button, the button needs an `aria-label`. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
