import { releaseVersion } from '../../../constructs/provider/release.ts';
import { byNeed, placeOf, versionOf } from '../list.ts';
import { backupText, expiry, stateAge, stateText } from '../state-text.ts';
import type { StatusReport } from '../status/description.ts';
import { calendar } from './calendar.ts';
import { type Content, Markup, markup } from './markup.ts';
import { badge, painted, section, table } from './section.ts';
import { pageStyle } from './style.ts';

/** What a page is about. */
interface PageOf {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** That of all control planes; undefined for all namespaces. */
  readonly namespace: string | undefined;
}

/** Nothing is loaded, and nothing runs, whatever a cluster has put into the page. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The fleet as one HTML file: the worst first, each control plane, and the calendar of its certificates. */
export function page(fleet: readonly StatusReport[], { now, namespace }: PageOf): string {
  const sorted = fleet.toSorted(byNeed).map((report, index) => ({ report, id: `control-plane-${index + 1}` }));
  const where = namespace === undefined ? 'all namespaces' : `namespace ${namespace}`;
  const time = new Date(now).toISOString();
  const unknown = [...new Set(fleet.flatMap((report) => report.unknown))];
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Hosted control planes of ${where}</title>
<style>${new Markup(pageStyle)}</style></head><body>
<a class="skip" href="#fleet">To the fleet</a>
<header><h1>Hosted control planes of ${where}</h1>
<p class="dim">As of <time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time></p>
${counts(sorted)}</header>
<main><section aria-labelledby="fleet"><h2 id="fleet">Fleet, the worst first</h2>
${fleet.length === 0 ? markup`<p>No control plane exists.</p>` : fleetTable(sorted, now)}</section>
<section aria-labelledby="each"><h2 id="each">Control planes</h2>
${sorted.map(({ report, id }) => section(report, now, id))}</section>
<section aria-labelledby="certificates"><h2 id="certificates">Calendar of certificates</h2>
${calendar(fleet, now)}</section></main>
<footer>${unknown.length > 0 ? markup`<h2>Not known</h2><ul class="causes">${unknown.map((what) => markup`<li>${what}</li>`)}</ul>` : undefined}
<p>Written by <code>hcp report</code> ${releaseVersion}. <code>hcp status CLUSTER -n NAMESPACE</code> shows the present state.</p></footer>
</body></html>`.text;
}

const words: Readonly<Partial<Record<StatusReport['state']['kind'], string>>> = {
  ready: 'Ready',
  impaired: 'Ready with a problem',
  deleting: 'being deleted',
};

/** How many there are in each state, the worst first. */
function counts(sorted: readonly Row[]): Markup {
  const byKind = Map.groupBy(sorted, ({ report }) => report.state.kind);
  const shown = [...byKind].map(([kind, rows]) => {
    const { meaning } = painted((paint) => stateText(rows[0]!.report, paint));
    return markup`<li><strong>${rows.length}</strong><span class="badge" data-state="${meaning}">${words[kind] ?? kind}</span></li>`;
  });
  return markup`<ul class="counts"><li><strong>${sorted.length}</strong> control planes</li>${shown}</ul>`;
}

/** A control plane, and where the page has it. */
interface Row {
  readonly report: StatusReport;
  readonly id: string;
}

const heading = ['CLUSTER', 'STATE', 'FOR', 'VERSION', 'API SERVERS', 'ETCD', 'WORKERS', 'CERTIFICATES', 'LAST BACKUP'];

function fleetTable(sorted: readonly Row[], now: number): Markup {
  const rows = sorted.map(({ report, id }): Content[] => {
    const { apiServers, etcd, workers, certificatesNotAfter } = report;
    return [
      markup`<a href="#${id}">${placeOf(report)}</a>`,
      badge((paint) => stateText(report, paint)),
      stateAge(report, now),
      versionOf(report),
      `${apiServers.ready}/${apiServers.total}`,
      etcd === null ? '-' : `${etcd.ready}/${etcd.total}`,
      workers === null ? 'not known' : `${workers.total - workers.notReady.length}/${workers.total}`,
      badge((paint) => expiry(certificatesNotAfter, now, paint)),
      badge((paint) => backupText(report, now, paint)),
    ];
  });
  return markup`<div class="fleet">${table('Fleet', heading, rows)}</div>`;
}
