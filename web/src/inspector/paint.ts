import { colourOf, type Kind, kinds } from "./kinds";

/** The margin on each side, in pixels: half the width of the slider's handle. */
const EDGE = 8;

/** The stacking order of the kinds, from the top. */
const ORDER = Object.keys(kinds) as Kind[];

/** Draws events from left to right: individually if there is room, otherwise the share of each kind per column. */
export function paint(element: HTMLCanvasElement, events: readonly Kind[], length: number): void {
  const { clientWidth: width, clientHeight: height } = element;
  const ratio = devicePixelRatio || 1;
  element.width = width * ratio;
  element.height = height * ratio;
  const context = element.getContext("2d");
  if (!context || !length) return;
  context.scale(ratio, ratio);
  const colours = coloursIn(element);
  const room = width - 2 * EDGE;
  const columns = Math.max(1, Math.floor(room));
  const bar = (kind: Kind, left: number, top: number, wide: number, tall: number) => {
    context.fillStyle = colours[kind];
    context.fillRect(left, top, wide, tall);
  };
  if (length <= columns) {
    const step = length > 1 ? room / (length - 1) : room;
    const wide = Math.max(1, Math.min(8, step - 1));
    for (let i = 0; i < length; i++) {
      const kind = events[i]!;
      const tall = height * kinds[kind].height;
      bar(kind, EDGE + i * step - wide / 2, (height - tall) / 2, wide, tall);
    }
    return;
  }
  kindShares(events, length, columns).forEach((shares, column) => {
    let top = 0;
    for (const [kind, share] of shares) {
      bar(kind, EDGE + column, top, 1, share * height);
      top += share * height;
    }
    // Questions to the user are always visible, whatever else is in the column.
    if (shares.has("ask")) bar("ask", EDGE + column, 0, 1, height);
  });
}

/** Returns the share of each kind among the events of each column. */
export function kindShares(events: readonly Kind[], length: number, columns: number): Map<Kind, number>[] {
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * length) / columns);
    const until = Math.floor(((column + 1) * length) / columns);
    const counts = new Map<Kind, number>();
    for (const kind of events.slice(from, until)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const shares = new Map<Kind, number>();
    for (const kind of ORDER) if (counts.has(kind)) shares.set(kind, counts.get(kind)! / (until - from));
    return shares;
  });
}

/** Returns the colours of the kinds in the current theme. Each is resolved through the element's style. */
function coloursIn(element: HTMLElement): Record<Kind, string> {
  const style = getComputedStyle(element);
  const colours = ORDER.map((kind) => {
    element.style.color = colourOf(kind);
    return [kind, style.color];
  });
  return Object.fromEntries(colours);
}
