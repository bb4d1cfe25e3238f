import { spanText } from '../format.ts';
import type { Overview, Step } from '../overview.ts';
import { type BringUp, bringUpOf, type Span } from './bring-up.ts';
import { Markup, markup } from './markup.ts';
import { colours, waterfallStyle } from './style.ts';

const rowHeight = 28;
const barHeight = 7;
const head = 22;
const foot = 20;
/** Of a file, which stands in pages of any ground. */
const [width, margin] = [720, 16];
const ticks = [0, 0.25, 0.5, 0.75, 1];

/** A picture, and what it shows in a line. */
interface Waterfall {
  readonly svg: Markup;
  readonly summary: string;
}

/**
 * The picture of a bring-up: a row for each group of steps, with a bar from when they could begin until they were done. It fits into any
 * width, because only its bars grow with it.
 * @param id unique in the page @returns undefined before anything is reported
 */
export function waterfall(overview: Overview, now: number, id: string): Waterfall | undefined {
  const bringUp = bringUpOf(overview, now);
  return bringUp && { svg: drawn(overview, bringUp, id, markup`width="100%"`), summary: summaryOf(bringUp) };
}

/** The same as a file of its own. @throws before anything is reported */
export function waterfallFile(overview: Overview, now: number): string {
  const bringUp = bringUpOf(overview, now);
  if (!bringUp) throw new Error(`nothing is reported of ${overview.cluster} yet: does the operator run?`);
  const height = heightOf(bringUp) + head + 2 * margin;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
<style>${new Markup(`${colours}${waterfallStyle}`)}</style>
<rect style="fill:var(--ground)" width="100%" height="100%"/>
<text class="head" x="${margin}" y="${margin + 12}">${`${overview.namespace}/${overview.cluster}: ${summaryOf(bringUp)}`.slice(0, 110)}</text>
${drawn(overview, bringUp, 'bring-up', markup`x="${margin}" y="${margin + head}" width="${width - 2 * margin}"`)}
</svg>`.text;
}

function heightOf({ spans, blocked, later }: BringUp): number {
  const rows = spans.length + Math.min(1, blocked.length) + Math.min(1, later.length);
  return rows * rowHeight + foot;
}

/** @param place attributes of the element */
function drawn(overview: Overview, bringUp: BringUp, id: string, place: Markup): Markup {
  const { spans, blocked, later } = bringUp;
  const rest = [
    ...(blocked.length > 0 ? [{ steps: blocked, text: 'blocked' }] : []),
    ...(later.length > 0 ? [{ steps: later, text: 'changed later' }] : []),
  ];
  const height = heightOf(bringUp);
  const share = (time: number) => percent(time / Math.max(1, bringUp.lasts));
  const title = `Bring-up of ${overview.namespace}/${overview.cluster}`;
  return markup`<svg class="waterfall" role="img" aria-labelledby="${id}-title" aria-describedby="${id}-text" ${place} height="${height}">
<title id="${id}-title">${title}: ${summaryOf(bringUp)}</title>
<desc id="${id}-text">${spokenOf(bringUp)}</desc>
${ticks.map((part) => tick(part, bringUp.lasts, height - foot))}
${spans.map((span, index) => row(span, index * rowHeight, share, bringUp.lasts))}
${rest.map(({ steps, text }, index) => markup`${labels(steps, text, (spans.length + index) * rowHeight)}\n`)}</svg>`;
}

/** @param part of the whole time */
function tick(part: number, lasts: number, bottom: number): Markup {
  const at = percent(part);
  const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle';
  return markup`<line class="tick" x1="${at}" x2="${at}" y1="0" y2="${bottom}"/><text class="time" x="${at}" y="${bottom + 16}" text-anchor="${anchor}">${spanText(lasts * part)}</text>
`;
}

function row(span: Span, y: number, share: (time: number) => string, lasts: number): Markup {
  const { steps, begins, ends } = span;
  const [first] = steps;
  const state = first?.state ?? 'unknown';
  const text = ends === undefined ? `${state} ${spanText(lasts - begins)}` : spanText(ends);
  const bar = markup`<rect class="bar" data-state="${state}" x="${share(begins)}" y="${y + 17}" width="${share((ends ?? lasts) - begins)}" height="${barHeight}"/>`;
  // A bar of no length is still a mark, also at the right edge.
  const mark = markup`<svg x="${share(ends ?? lasts)}" y="${y + 17}" overflow="visible"><rect class="mark" data-state="${state}" x="-3" width="3" height="${barHeight}"/></svg>`;
  return markup`${labels(steps, text, y)}${bar}${mark}
`;
}

function labels(steps: readonly Step[], text: string, y: number): Markup {
  return markup`<text x="0" y="${y + 13}">${nameOf(steps)}</text><text class="time" x="100%" dx="-5" y="${y + 13}" text-anchor="end">${text}</text>`;
}

function nameOf([first, ...more]: readonly Step[]): string {
  return `${first?.type ?? ''}${more.length > 0 ? ` +${more.length}` : ''}`;
}

function percent(part: number): string {
  return `${Math.round(part * 10_000) / 100}%`;
}

function summaryOf({ serves, lasts, spans }: BringUp): string {
  const open = spans.some(({ ends }) => ends === undefined);
  const whole = open ? `not complete after ${spanText(lasts)}` : `complete after ${spanText(lasts)}`;
  return serves === undefined ? whole : `the API server answered after ${spanText(serves)}, ${whole}`;
}

/** What the picture shows, for those who do not see it. */
function spokenOf({ spans, blocked, later }: BringUp): string {
  const names = (steps: readonly Step[]) => steps.map(({ type }) => type).join(', ');
  return [
    ...spans.map(({ steps, begins, ends }) => {
      const time =
        ends === undefined ? `from ${spanText(begins)}, not done` : `${spanText(begins)} to ${spanText(ends)}`;
      return `${time}: ${names(steps)}.`;
    }),
    ...(blocked.length > 0 ? [`Waiting for others: ${names(blocked)}.`] : []),
    ...(later.length > 0 ? [`Changed later: ${names(later)}.`] : []),
  ].join(' ');
}
