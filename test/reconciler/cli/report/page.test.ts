import { describe, expect, it } from 'vitest';
import { page } from '../../../../reconciler/cli/report/page.ts';
import { ReadOnce, report } from '../../../../reconciler/cli/report.ts';
import { waterfallFile } from '../../../../reconciler/cli/report/waterfall.ts';
import { HostedControlPlane, Pod } from '../../../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../../../reconciler/kube/client.ts';
import { commandSession } from '../../../support/loop/command-session.ts';
import { completeCluster } from '../../../support/loop/scenario.ts';
import { attack, hostileReports, reportedAt, reportedObject, reportsOf } from '../../../support/reported-fleet.ts';
import { testSession } from '../../../support/test-session.ts';

const shown = { now: reportedAt, namespace: undefined };
const whole = page(reportsOf(), shown);

/** What a reader without pictures reads. */
function textOf(html: string): string {
  return html
    .replaceAll(/<style>[^]*?<\/style>/g, '')
    .replaceAll(/<\/(t[hd]|dt)>/g, ' | ')
    .replaceAll(/<\/(li|dd|p|h3|text)>|<li>/g, '\n')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/&(\w+|#39);/g, (_, name: string) => ({ lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '&')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

it('the page reads as before', async () => {
  const some = reportsOf().filter(({ cluster }) => ['broken', 'renewal-is-late', 'rises'].includes(cluster));
  await expect(`${textOf(page(some, shown))}\n`).toMatchFileSnapshot('fleet.txt');
});

describe('the page', () => {
  it('has the worst first, each row with a link to its section', () => {
    const links = [...whole.matchAll(/<a href="#(control-plane-\d+)">([^<]+)/g)].map(([, id, place]) => [id, place]);
    const sections = [...whole.matchAll(/<article id="([^"]+)".*\n<header><h3 [^>]+>([^<]+)/g)].map(([, id, place]) => [
      id,
      place,
    ]);
    expect(links).toHaveLength(10);
    expect(links[0]).toEqual(['control-plane-1', 'team-b/broken']);
    expect(sections).toEqual(links);
  });

  it('names the next command of what blocks', () => {
    expect(whole).toContain('Next: <code>hcp backups broken -n team-b</code>');
  });

  it('has each state in the words of hcp list, with the way out of what a user has asked for', () => {
    const articleOf = (place: string) =>
      textOf(
        /<article [^>]+>(?:(?!<article )[^])*/g.exec(whole.slice(whole.indexOf(`<article id="${idOf(place)}"`)))?.[0] ??
          '',
      );
    const idOf = (place: string) => new RegExp(`<a href="#(control-plane-\\d+)">${place}<`).exec(whole)?.[1] ?? '';
    expect(articleOf('team-b/paused')).toMatch(
      /^team-b\/paused\nPausedfor 2d\nEverything here is of the time before the pause.\nNext: hcp resume paused -n team-b\n/,
    );
    expect(articleOf('team-c/hibernated')).toMatch(
      /^team-c\/hibernated\nHibernatedfor 2d\nNext: hcp wake hibernated -n team-c\nPod /,
    );
    expect(articleOf('team-a/renewal-is-late')).toMatch(/^team-a\/renewal-is-late\nReady, backups fail/);
  });

  it('counts each state, the worst first', () => {
    const [, counts = ''] = /<ul class="counts">(.*?)<\/ul>/.exec(whole) ?? [];
    expect(textOf(counts).split('\n')).toEqual([
      '10 control planes',
      '1failing',
      '3waiting',
      '1unknown',
      '1Ready with a problem',
      '1Ready',
      '1paused',
      '1being deleted',
      '1hibernated',
    ]);
  });

  it('names what is not known once', () => {
    const fleet = reportsOf().map((one) => ({ ...one, workers: null, unknown: ['machines: forbidden'] }));
    const html = page(fleet, shown);
    expect(html.match(/machines: forbidden/g)).toHaveLength(1);
    expect(html).toContain('<dt>Workers</dt><dd>not known</dd>');
  });

  it('of nothing says so', () => {
    expect(page([], { now: reportedAt, namespace: 'team' })).toContain('<p>No control plane exists.</p>');
  });
});

describe.each([
  ['the page', whole],
  ['the page of a hostile fleet', page(hostileReports(), shown)],
  ['the picture', waterfallFile(reportsOf()[0]!, reportedAt)],
  ['the picture of a hostile control plane', waterfallFile(hostileReports()[0]!, reportedAt)],
])('%s', (_, text) => {
  const tags = [...text.matchAll(/<[^>]*>/g)].map(([tag]) => tag);

  it('refers to nothing outside of it', () => {
    const references = tags.flatMap((tag) => [
      ...tag.matchAll(/\s(?:href|src|srcset|action|data|poster|style|xlink:href)="([^"]*)"/g),
    ]);
    expect(
      references.map(([, target = '']) => target).filter((target) => !/^(#[\w-]+|fill:var\(--ground\))$/.test(target)),
    ).toEqual([]);
    expect(
      [...text.matchAll(/<style>([^]*?)<\/style>/g)].filter(([, css = '']) =>
        /url\(|@import|@font-face|expression/i.test(css),
      ),
    ).toEqual([]);
  });

  it('has no element and no attribute but its own', () => {
    const elements = new Set(tags.map((tag) => /^<\/?([!\w]+)/.exec(tag)?.[1] ?? tag));
    const known =
      '!doctype html head meta title style body a header h1 h2 h3 h4 p time ul li strong span main section div table thead tbody tr th td article code dl dt dd details summary svg desc text line rect g footer';
    expect([...elements].filter((name) => !known.split(' ').includes(name))).toEqual([]);
    const attributes = new Set(
      tags.flatMap((tag) =>
        [...tag.replaceAll(/"[^"]*"/g, '""').matchAll(/\s([\w:-]+)/g)].map(([, name = '']) => name),
      ),
    );
    expect([...attributes].filter((name) => /^on|^src|^http$/i.test(name))).toEqual([]);
  });
});

it('a hostile fleet is shown as it is named', () => {
  const html = page(hostileReports(), shown);
  expect(html).not.toContain(attack);
  expect(textOf(html).split(attack.replaceAll(/\s+/g, ' ')).length).toBeGreaterThan(300);
});

describe('the work', () => {
  it('of reading does not grow with the fleet', async () => {
    const requestsFor = async (count: number) => {
      const items = Array.from({ length: count }, (_, index) => reportedObject([`team-${index % 7}`, `c${index}`]));
      let requests = 0;
      const list = async (resource: object) => {
        requests += 1;
        return { items: resource === HostedControlPlane ? items : [], resourceVersion: '' };
      };
      const { session, printed } = testSession({
        client: { list } as unknown as KubernetesApi,
        namespace: 'team',
        now: () => reportedAt,
      });
      await report.prepare({ positionals: [], values: { 'all-namespaces': true } })(session);
      expect(printed.join('').match(/<article /g)).toHaveLength(count);
      return requests;
    };
    expect(await requestsFor(200)).toBe(await requestsFor(2));
  });

  it('of writing grows with the fleet, and not faster', () => {
    const sizeFor = (count: number) =>
      page(reportsOf(Array.from({ length: count }, (_, index) => reportedObject(['team', `c${1000 + index}`]))), shown)
        .length;
    const [one, two, many] = [sizeFor(1), sizeFor(2), sizeFor(200)];
    expect(many).toBeLessThan(one + 205 * (two - one));
    expect(many).toBeLessThan(6_000_000);
  });
});

it('one read answers each control plane with its own objects', async () => {
  const pod = (namespace: string, cluster: string, name: string) => ({
    ...Pod,
    metadata: { namespace, name, labels: { owner: cluster } },
  });
  const pods = [pod('a', 'c1', 'x'), pod('a', 'c2', 'y'), pod('b', 'c1', 'z')];
  const asked: object[] = [];
  const list = async (_: unknown, selection: object) => (asked.push(selection), { items: pods, resourceVersion: '' });
  const client = new ReadOnce({ list } as unknown as KubernetesApi, undefined);
  const namesOf = async (namespace: string, cluster: string) => {
    const { items } = await client.list(Pod, { namespace, labelSelector: `owner=${cluster}` });
    return items.map(({ metadata }) => metadata.name);
  };
  expect(await namesOf('a', 'c1')).toEqual(['x']);
  expect(await namesOf('a', 'c2')).toEqual(['y']);
  expect(await namesOf('b', 'c1')).toEqual(['z']);
  expect(await namesOf('b', 'c2')).toEqual([]);
  expect(asked).toEqual([{ labelSelector: 'owner', namespace: undefined }]);
});

describe('hcp report', () => {
  it.each([{}, { 'all-namespaces': true }])('needs no more rights than its help names, with %o', async (values) => {
    const cluster = await completeCluster();
    const { session, printed } = commandSession(cluster, report);
    await report.prepare({ positionals: [], values })(session);
    const html = printed.join('\n');
    expect(html).toContain('team/c1</a>');
    expect(html).not.toContain('Not known');
  });

  it('takes no arguments', () => {
    expect(() => report.prepare({ positionals: ['c1'], values: {} })).toThrow('report takes no arguments: remove c1');
  });
});
