import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { type Line, type Picture, type Placed, shapeHeight, shapeWidth } from './graph-layout.ts';
import { countHidden, markedText } from './hidden-marks.tsx';
import { addressOfRecord } from './route.ts';

/** The part of a picture that is in sight: its corner, and the length of one unit on the screen. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** The size of the picture on the screen. */
export interface Sight {
  readonly width: number;
  readonly height: number;
}

/** Below this scale, no text can be read. */
const readable = 0.3;
const maxLetters = 25;

/** The directions of the arrow keys. */
const arrows: { readonly [key: string]: readonly [number, number] } = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/** Draws what is in sight of a picture; one shape at a time has the focus of the keyboard. */
export function GraphPicture({
  picture,
  place,
  sight,
  matches,
  chosen,
  onSight,
  onPlace,
  onZoom,
  onChoose,
  onToggle,
}: {
  picture: Picture;
  place: Place;
  sight: Sight;
  matches: ReadonlySet<string>;
  chosen: string;
  onSight: (sight: Sight) => void;
  onPlace: (place: Place | undefined) => void;
  onZoom: (factor: number, x?: number, y?: number) => void;
  onChoose: (id: string) => void;
  onToggle: (group: string) => void;
}) {
  const element = useRef<SVGSVGElement>(null);
  const drag = useRef<{ x: number; y: number; place: Place; moved: boolean } | undefined>(
    undefined,
  );
  const wantsFocus = useRef(false);
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      if (width > 0 && height > 0) onSight({ width, height });
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const { shapes, lines } = picture;
  const current = shapes.find(({ id }) => id === chosen) ?? shapes[0];
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    const focused = element.current?.querySelector('[tabindex="0"]');
    if (focused instanceof SVGElement) focused.focus({ preventScroll: true });
  });
  const [width, height] = [sight.width / place.scale, sight.height / place.scale];
  const isSeen = (x: number, y: number) =>
    x > place.x - shapeWidth &&
    x < place.x + width + shapeWidth &&
    y > place.y - shapeHeight &&
    y < place.y + height + shapeHeight;
  const seen = shapes.filter((shape) => shape === current || isSeen(shape.x, shape.y));
  const isText = place.scale >= readable;
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    const arrow = arrows[key];
    if (arrow && current) {
      const next = neighbour(shapes, current, arrow);
      if (next) {
        onChoose(next.id);
        wantsFocus.current = true;
        onPlace(towards(place, next, width, height));
      }
    } else if (key === '+' || key === '=') onZoom(1.3);
    else if (key === '-') onZoom(1 / 1.3);
    else if (key === '0') onPlace(undefined);
    else return;
    event.preventDefault();
  };
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = element.current?.getBoundingClientRect();
    onZoom(
      Math.exp(-event.deltaY / 300),
      event.clientX - (box?.x ?? 0),
      event.clientY - (box?.y ?? 0),
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: HTML has no element for a group of shapes
    <svg
      ref={element}
      class="graph"
      role="group"
      aria-label="Records and their parts"
      viewBox={`${place.x} ${place.y} ${width} ${height}`}
      onKeyDown={onKeyDown}
      onWheel={onWheel}
      onPointerDown={({ clientX, clientY, button }) => {
        if (button === 0) drag.current = { x: clientX, y: clientY, place, moved: false };
      }}
      onPointerMove={({ clientX, clientY, pointerId, buttons }) => {
        const { current: began } = drag;
        if (!began) return;
        if (buttons === 0) {
          drag.current = undefined;
          return;
        }
        const [x, y] = [clientX - began.x, clientY - began.y];
        if (!began.moved && Math.abs(x) + Math.abs(y) < 5) return;
        began.moved = true;
        element.current?.setPointerCapture(pointerId);
        const { scale } = began.place;
        onPlace({ scale, x: began.place.x - x / scale, y: began.place.y - y / scale });
      }}
      onClickCapture={(event) => {
        // The end of a drag is not a click on what is below the pointer.
        if (drag.current?.moved) {
          event.preventDefault();
          event.stopPropagation();
        }
        drag.current = undefined;
      }}
    >
      <title>Records and their parts</title>
      {lines
        .filter(({ from, to }) => isSeen(from.x, from.y) || isSeen(to.x, to.y))
        .map((line) => (
          <path key={`${line.from.id} ${line.to.id}`} d={curve(line)} class="line" />
        ))}
      {seen.map((shape) => (
        <ShapeDrawing
          key={shape.id}
          shape={shape}
          isText={isText}
          isCurrent={shape === current}
          isFound={
            matches.has(shape.id) || (shape.group?.some(({ path }) => matches.has(path)) ?? false)
          }
          onFocus={() => onChoose(shape.id)}
          onToggle={onToggle}
        />
      ))}
    </svg>
  );
}

function ShapeDrawing({
  shape: { id, node, group, x, y },
  isText,
  isCurrent,
  isFound,
  onFocus,
  onToggle,
}: {
  shape: Placed;
  isText: boolean;
  isCurrent: boolean;
  isFound: boolean;
  onFocus: () => void;
  onToggle: (group: string) => void;
}) {
  const { title, type, status } = node;
  const kind = status ? `${type}, ${status.replaceAll('_', ' ')}` : type;
  const drawing = (
    <>
      <title>{group ? `${title} open the group` : `${title} ${kind}`}</title>
      <rect width={shapeWidth} height={shapeHeight} rx="7" class="box" />
      <rect width="5" height={shapeHeight} rx="2.5" class="bar" />
      {isText && (
        <text>
          <tspan x="14" y="18" data-hidden={countHidden(title) || undefined}>
            {shortened(markedText(title))}
          </tspan>{' '}
          <tspan x="14" y="35" class="small">
            {group ? 'open the group' : kind}
          </tspan>
        </text>
      )}
    </>
  );
  const common = {
    class: `node type-${type}${isFound ? ' matched' : ''}${group ? ' several' : ''}`,
    transform: `translate(${x - shapeWidth / 2} ${y - shapeHeight / 2})`,
    tabindex: isCurrent ? 0 : -1,
    onFocus,
  };
  if (!group) {
    return (
      <a {...common} href={addressOfRecord(node.path)}>
        {drawing}
      </a>
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no button
    <g
      {...common}
      role="button"
      onClick={() => onToggle(id)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onToggle(id);
      }}
    >
      {drawing}
    </g>
  );
}

function shortened(text: string): string {
  const letters = [...text];
  return letters.length <= maxLetters ? text : `${letters.slice(0, maxLetters - 1).join('')}…`;
}

/** Returns a smooth line through points. */
function curve({ points }: Line): string {
  const [first, ...rest] = points;
  const last = rest.pop();
  if (!first || !last) return '';
  const bends = rest.map((point, i) => {
    const next = rest[i + 1] ?? last;
    return `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  return `M${first.x} ${first.y} ${bends.join(' ')} L${last.x} ${last.y}`;
}

/** Returns the nearest shape in a direction. */
function neighbour(
  shapes: readonly Placed[],
  from: Placed,
  [right, down]: readonly [number, number],
): Placed | undefined {
  let best: Placed | undefined;
  let least = Infinity;
  for (const shape of shapes) {
    const [x, y] = [shape.x - from.x, shape.y - from.y];
    const along = x * right + y * down;
    const across = Math.abs(x * down) + Math.abs(y * right);
    if (shape === from || along <= 1) continue;
    const distance = along + 2.5 * across;
    if (distance < least) [best, least] = [shape, distance];
  }
  return best;
}

/** Moves a place as little as needed to show a shape, and makes it readable. */
function towards(place: Place, { x, y }: Placed, width: number, height: number): Place {
  if (place.scale < readable) {
    const [wide, high] = [width * place.scale, height * place.scale];
    return { scale: 0.6, x: x - wide / 1.2, y: y - high / 1.2 };
  }
  const [halfWidth, halfHeight] = [shapeWidth / 2 + 8, shapeHeight / 2 + 8];
  return {
    scale: place.scale,
    x: Math.min(x - halfWidth, Math.max(place.x, x + halfWidth - width)),
    y: Math.min(y - halfHeight, Math.max(place.y, y + halfHeight - height)),
  };
}
