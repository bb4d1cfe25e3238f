import { placeOf, versionOf } from '../list.ts';
import type { Step } from '../overview.ts';
import { age, etcdText, expiry, stateAge, stateText } from '../state-text.ts';
import { commandAfter, type StatusReport, wayOut } from '../status/description.ts';
import type { Cause } from '../status/warnings.ts';
import { describeWorkers } from '../status/workers.ts';
import type { Paint } from '../view.ts';
import { type Content, type Markup, markup } from './markup.ts';
import { waterfall } from './waterfall.ts';

/** What is painted in a text for people, as a badge of the same meaning. */
export function badge(write: (paint: Paint) => string): Markup {
  const { meaning, text } = painted(write);
  return meaning === undefined ? markup`${text}` : markup`<span class="badge" data-state="${meaning}">${text}</span>`;
}

/** A text, and its meaning. */
export function painted(write: (paint: Paint) => string): { meaning: Parameters<Paint>[0] | undefined; text: string } {
  let meaning: Parameters<Paint>[0] | undefined;
  const text = write((of, shown) => {
    meaning = of;
    return shown;
  });
  return { meaning, text };
}

/** All of one control plane. The picture of one that is Ready is folded. @param id unique in the page */
export function section(report: StatusReport, now: number, id: string): Markup {
  const { ready, cluster } = report;
  const since = stateAge(report, now);
  const picture = waterfall(report, now, `${id}-bring-up`);
  const state = (paint: Paint) => stateText(report, paint);
  return markup`<article id="${id}" aria-labelledby="${id}-name" data-state="${painted(state).meaning}">
<header><h3 id="${id}-name">${placeOf(report)}</h3>${badge(state)}${since === '' ? undefined : markup`<span class="dim">for ${since}</span>`}</header>
${asked(report)}${blocked(report)}${causes(report.causes)}${problems(report)}
<div class="panels"><div>${facts(report, now)}</div>
<div>${components(report)}</div>
<details${ready ? undefined : markup` open`}><summary>Bring-up of ${cluster}${picture && `: ${picture.summary}`}</summary>${picture?.svg ?? markup`<p>Nothing is reported yet: does the operator run?</p>`}</details></div>
${report.steps.length > 0 ? steps(report, now, id) : undefined}</article>
`;
}

/** The way out of what a user has asked for. */
function asked(report: StatusReport): Markup | undefined {
  const out = wayOut(report);
  if (out === undefined) return undefined;
  return markup`${report.state.kind === 'paused' ? markup`<p>Everything here is of the time before the pause.</p>` : undefined}
<p class="next">Next: <code>${out}</code></p>`;
}

function blocked(report: StatusReport): Markup | undefined {
  const { blocker, state } = report;
  if (blocker === null || state.kind === 'hibernated') return undefined;
  return markup`<h4>What blocks</h4>
<p><strong>${blocker.type} is ${blocker.reason}.</strong> ${blocker.message}</p>
<p class="next">Next: <code>${commandAfter(blocker, report)}</code></p>`;
}

function problems({ problems: found }: StatusReport): Markup | undefined {
  if (found.length === 0) return undefined;
  return markup`<h4>Problems</h4>
<ul class="causes">${found.map(({ type, state, message }) => markup`<li>${badge((paint) => paint(state, type))} ${message}</li>`)}</ul>`;
}

function causes(found: readonly Cause[]): Markup | undefined {
  if (found.length === 0) return undefined;
  return markup`<ul class="causes">${found.map(({ text, causes: behind }) => markup`<li>${text}${causes(behind)}</li>`)}</ul>`;
}

function facts(report: StatusReport, now: number): Markup {
  const { endpoint, apiServers, workers, created, held, ongoing } = report;
  const rows: readonly (readonly [string, Content])[] = [
    ['Endpoint', endpoint ?? 'not known yet'],
    ['Version', versionOf(report)],
    ['Age', created === null ? '-' : age(created, now)],
    ['API servers', `${apiServers.ready} of ${apiServers.total} ready`],
    ['etcd', etcdText(report)],
    ['Workers', workers === null ? 'not known' : describeWorkers(workers)],
    ['Certificates', firstExpiry(report, now)],
    ...backups(report, now),
    ...held.map(({ field, because, since }) => ['Held', `${field} for ${age(since, now)}: ${because}`] as const),
    ...ongoing.map(({ type, message, since }) => [type, message || `for ${age(since, now)}`] as const),
  ];
  return markup`<dl class="facts">${rows.map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function firstExpiry({ certificatesNotAfter }: StatusReport, now: number): Markup {
  if (certificatesNotAfter === null) return markup`not known yet`;
  const write = (paint: Paint) => expiry(certificatesNotAfter, now, paint);
  return markup`${painted(write).meaning === undefined ? 'the first expires in ' : 'the first has '}${badge(write)}`;
}

function backups(
  { backups: { state }, lastBackup, nextBackup, backupStore, steps }: StatusReport,
  now: number,
): [string, Content][] {
  const stateOfStep = (type: Step['type']) => {
    const step = steps.find((one) => one.type === type);
    const isOk = step === undefined || ['ok', 'off'].includes(step.state);
    return isOk ? undefined : markup` ${badge((paint) => paint(step.state, step.reason))}`;
  };
  if (state === 'off') return [['Backups', state]];
  const last = lastBackup === null ? 'none yet' : `the last one ${age(lastBackup, now)} ago`;
  const next =
    nextBackup === null
      ? ''
      : `, the next one ${Date.parse(nextBackup) > now ? 'in' : 'due for'} ${age(nextBackup, now)}`;
  return [
    ['Backups', markup`${last}${next}${stateOfStep('EtcdBackupReady')}${stateOfStep('EtcdBackupVerified')}`],
    ['Stored with Secret', backupStore ?? '-'],
  ];
}

function components({ components: all, cluster }: StatusReport): Markup | undefined {
  if (all.length === 0) return undefined;
  const rows = all.map(({ name, readyReplicas = 0, replicas = 0, version = '-', message = '' }) => {
    const isOk = readyReplicas === replicas && message === '';
    const ready = badge((paint) => paint(isOk ? 'ok' : 'waits', `${readyReplicas}/${replicas}`));
    return [name, ready, version, message];
  });
  return table(`Components of ${cluster}`, ['COMPONENT', 'READY', 'VERSION', 'WAITS FOR'], rows);
}

function steps({ steps: all, cluster }: StatusReport, now: number, id: string): Markup {
  const open = all.filter(({ state }) => !['ok', 'off'].includes(state)).length;
  const rows = all.map(({ type, state, since, reason, message }) => [
    type,
    badge((paint) => paint(state, state)),
    age(since, now),
    ['ok', 'off'].includes(state) ? '' : reason,
    ['ok', 'off'].includes(state) ? '' : message,
  ]);
  return markup`<details id="${id}-steps"><summary>All ${all.length} steps of ${cluster}, ${open} not ok</summary>${table(`Steps of ${cluster}`, ['STEP', 'STATE', 'FOR', 'REASON', 'MESSAGE'], rows)}</details>`;
}

/** A table that scrolls where it is too wide, also with a keyboard. */
export function table(label: string, heading: readonly string[], rows: readonly (readonly Content[])[]): Markup {
  return markup`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${heading.map((text) => markup`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...cells]) => markup`<tr><th scope="row">${first}</th>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>
`,
  )}</tbody></table></div>`;
}
