import axe from 'axe-core';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { page } from '../../../../reconciler/cli/report/page.ts';
import { waterfallFile } from '../../../../reconciler/cli/report/waterfall.ts';
import { Browser } from '../../../support/browser.ts';
import { hostileReports, reportedAt, reportsOf } from '../../../support/reported-fleet.ts';
import { aptGet } from '../../../tools/testbed/host-packages.ts';

let browser: Browser;
let directory: string;
const urlOf = (file: string) => `file://${join(directory, file)}`;

beforeAll(async () => {
  await aptGet('install', 'chromium');
  directory = await mkdtemp(join(tmpdir(), 'report-'));
  const shown = { now: reportedAt, namespace: undefined };
  await writeFile(join(directory, 'fleet.html'), page(reportsOf(), shown));
  await writeFile(join(directory, 'hostile.html'), page(hostileReports(), shown));
  await writeFile(join(directory, 'bring-up.svg'), waterfallFile(reportsOf()[0]!, reportedAt));
  browser = await Browser.start();
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const unfold = `document.querySelectorAll('details').forEach((one) => { one.open = true; })`;

/** What axe finds, with the elements. */
async function violations(): Promise<string[]> {
  await browser.evaluate(axe.source);
  return browser.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
  );
}

describe.each([
  { width: 400, dark: false },
  { width: 400, dark: true },
  { width: 1600, dark: false },
  { width: 1600, dark: true },
])('a page of width $width, dark: $dark', (view) => {
  it.each(['fleet.html', 'hostile.html'])('%s is accessible, with everything unfolded', async (file) => {
    await browser.open(urlOf(file), view);
    await browser.evaluate(unfold);
    expect(await violations()).toEqual([]);
  });

  it.each(['fleet.html', 'hostile.html'])('%s is as wide as the window', async (file) => {
    await browser.open(urlOf(file), view);
    await browser.evaluate(unfold);
    expect(await browser.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(view.width);
    const cut = `[...document.querySelectorAll('h3, p, dd, li, summary, article')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent.slice(0, 80))`;
    expect(await browser.evaluate(cut)).toEqual([]);
  });

  it('no text of the picture lies over another', async () => {
    await browser.open(urlOf('fleet.html'), view);
    await browser.evaluate(unfold);
    const overlaps = `[...document.querySelectorAll('.waterfall')].flatMap((picture) => {
      const boxes = [...picture.querySelectorAll('text')].map((one) => [one.textContent, one.getBoundingClientRect()]);
      return boxes.flatMap(([text, box], index) => boxes.slice(index + 1).filter(([, other]) =>
        box.left < other.right && other.left < box.right && box.top + 2 < other.bottom && other.top + 2 < box.bottom
      ).map(([other]) => text + ' / ' + other));
    })`;
    expect(await browser.evaluate(overlaps)).toEqual([]);
  });
});

it('nothing but the files themselves is asked for, and nothing of a hostile fleet runs or becomes an element', async () => {
  const before = browser.requested.length;
  await browser.open(urlOf('hostile.html'), { width: 1600 });
  expect(browser.requested.slice(before)).toEqual([urlOf('hostile.html')]);
  expect(
    await browser.evaluate(
      `document.querySelectorAll('script, img, iframe, link, object, form, [onload], [onerror]').length`,
    ),
  ).toBe(0);
  expect(await browser.evaluate('document.querySelectorAll("article").length')).toBe(10);
});

it('colours follow the scheme', async () => {
  const ground = `getComputedStyle(document.documentElement).backgroundColor`;
  await browser.open(urlOf('fleet.html'), { width: 1600 });
  expect(await browser.evaluate(ground)).toBe('rgb(255, 255, 255)');
  await browser.open(urlOf('fleet.html'), { width: 1600, dark: true });
  expect(await browser.evaluate(ground)).toBe('rgb(15, 19, 23)');
});

it('on paper everything is unfolded', async () => {
  await browser.open(urlOf('fleet.html'), { width: 800 });
  const folded = `[...document.querySelectorAll('details:not([open]) tbody tr')].filter((row) => row.checkVisibility({ contentVisibilityAuto: true }) && row.getBoundingClientRect().height > 0).length`;
  expect(await browser.evaluate(folded)).toBe(0);
  await browser.send('Emulation.setEmulatedMedia', { media: 'print' });
  // the browser lays the paper out with its next frame
  await expect.poll(() => browser.evaluate<number>(folded), { timeout: 30_000 }).toBeGreaterThan(100);
  const { data } = await browser.send<{ data: string }>('Page.printToPDF');
  await browser.send('Emulation.setEmulatedMedia', { media: '' });
  expect(Buffer.from(data, 'base64').subarray(0, 5).toString()).toBe('%PDF-');
});

it('a screen reader finds landmarks, headings and tables with headers', async () => {
  await browser.open(urlOf('fleet.html'), { width: 1600 });
  const { nodes } = await browser.send<{
    nodes: { ignored: boolean; role?: { value: string }; name?: { value: string } }[];
  }>('Accessibility.getFullAXTree');
  const named = nodes.filter(({ ignored }) => !ignored).map(({ role, name }) => `${role?.value} ${name?.value}`);
  expect(named).toEqual(
    expect.arrayContaining([
      'banner ',
      'main ',
      'contentinfo ',
      'heading Hosted control planes of all namespaces',
      'heading Fleet, the worst first',
      'article team-b/broken',
      'region Fleet',
      'columnheader LAST BACKUP',
      'rowheader team-b/broken',
      'image Bring-up of team-b/rises: not complete after 75s',
    ]),
  );
});

it('the picture is a file that is well formed', async () => {
  await browser.open(urlOf('bring-up.svg'), { width: 1600 });
  expect(
    await browser.evaluate(`document.documentElement.tagName + document.querySelectorAll('parsererror').length`),
  ).toBe('svg0');
});
