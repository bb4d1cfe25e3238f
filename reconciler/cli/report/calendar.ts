import type { Overview } from '../overview.ts';
import { spanText } from '../format.ts';
import { type Markup, markup } from './markup.ts';

/** What happens to certificates of a control plane on a day. */
export interface Entry {
  /** As `2026-12-04`. */
  readonly day: string;
  readonly place: string;
  readonly kinds: readonly string[];
  readonly secrets: readonly string[];
  /** `renewed` by the operator; `late`: it should have been; `expires`: its user has to renew it. */
  readonly what: 'renewed' | 'late' | 'expires' | 'expired';
}

/** The next event of each certificate of a fleet, by day: what is renewed in time does not expire. */
export function calendarOf(fleet: readonly Overview[], now: number): Entry[] {
  const events = fleet.flatMap(({ namespace, cluster, certificates }) =>
    certificates.map(({ kind, notAfter, renewsAt, secret, expiring = [] }) => {
      const isLate = expiring.length > 0 || (renewsAt !== undefined && Date.parse(renewsAt) < now);
      const isExpired = Date.parse(notAfter) < now;
      const what = isExpired ? 'expired' : renewsAt === undefined ? 'expires' : isLate ? 'late' : 'renewed';
      const day = (what === 'renewed' ? (renewsAt ?? notAfter) : notAfter).slice(0, 10);
      return { day, place: `${namespace}/${cluster}`, kind, what, secrets: [secret, ...expiring] } as const;
    }),
  );
  const groups = Map.groupBy(events, ({ day, place, what }) => `${day} ${what} ${place}`);
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, group]) => ({
      ...group[0]!,
      kinds: group.map(({ kind }) => kind),
      secrets: [...new Set(group.flatMap(({ secrets }) => secrets))],
    }));
}

const words: Readonly<Record<Entry['what'], { readonly state: string; readonly text: string }>> = {
  renewed: { state: 'ok', text: 'the operator renews' },
  expires: { state: 'waits', text: 'expires: its user renews it' },
  late: { state: 'fails', text: 'expires: renewal is late' },
  expired: { state: 'fails', text: 'has expired' },
};

/** The worst first. */
const ranks: readonly Entry['what'][] = ['expired', 'late', 'expires', 'renewed'];

/** What comes later is in the tables only. */
const drawnDays = 365;

/** Months with what happens in them, and a table of each, open where a person has to act or the time is near. */
export function calendar(fleet: readonly Overview[], now: number): Markup {
  const entries = calendarOf(fleet, now);
  if (entries.length === 0) return markup`<p>No certificate is reported yet.</p>`;
  const months = [...Map.groupBy(entries, ({ day }) => day.slice(0, 7))];
  const monthIn = (days: number) => new Date(now + days * 86_400_000).toISOString().slice(0, 7);
  const [first, soon, last] = [monthIn(0), monthIn(45), monthIn(drawnDays)];
  const near = months.filter(([month]) => month >= first && month <= last);
  const isOpen = (month: string, own: readonly Entry[]) => month <= soon || own.some(({ what }) => what !== 'renewed');
  return markup`<div class="months">${near.map(([month, own]) => picture(month, own))}</div>
${months.map(([month, own]) => tableOf(month, own, { now, open: isOpen(month, own) }))}`;
}

function tableOf(month: string, entries: readonly Entry[], { now, open }: { now: number; open: boolean }): Markup {
  const name = nameOf(month);
  const counts = ranks.flatMap((what) => {
    const found = entries.filter((entry) => entry.what === what).length;
    return found > 0 ? [`${words[what].text} (${found})`] : [];
  });
  return markup`<details${open ? markup` open` : ''}><summary>${name}: ${counts.join(', ')}</summary>
<div class="scroll" role="region" aria-label="${`Certificates in ${name}`}" tabindex="0"><table>
<thead><tr><th scope="col">DAY (UTC)</th><th scope="col">IN</th><th scope="col">CLUSTER</th><th scope="col">WHAT HAPPENS</th><th scope="col">CERTIFICATES</th><th scope="col">SECRETS</th></tr></thead>
<tbody>${entries.map((entry) => line(entry, now))}</tbody></table></div></details>
`;
}

function nameOf(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

function line({ day, place, kinds, secrets, what }: Entry, now: number): Markup {
  const { state, text } = words[what];
  const left = Date.parse(day) - now;
  const when = left < 0 ? (what === 'expired' ? `${spanText(-left)} ago` : 'today') : spanText(left);
  return markup`<tr><td><time datetime="${day}">${day}</time></td><td>${when}</td><th scope="row">${place}</th><td><span class="badge" data-state="${state}">${text}</span></td><td>${kinds.join(', ')}</td><td>${secrets.join(', ')}</td></tr>
`;
}

const cell = 24;

/** A month of weeks that begin on Monday, in which the days with entries are marked. */
function picture(month: string, entries: readonly Entry[]): Markup {
  const start = new Date(`${month}-01T00:00:00Z`);
  const name = nameOf(month);
  const offset = (start.getUTCDay() + 6) % 7;
  const days = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
  const byDay = Map.groupBy(entries, ({ day }) => Number(day.slice(8)));
  const spoken = [...byDay].map(
    ([day, own]) => `day ${day}: ${[...new Set(own.map(({ what }) => words[what].text))].join(', ')}`,
  );
  const height = 30 + Math.ceil((offset + days) / 7) * cell;
  return markup`<svg class="month" role="img" aria-label="${`${name}: ${spoken.join('; ')}`}" viewBox="0 0 ${7 * cell} ${height}">
<text class="name" x="4" y="14">${name}</text>
${Array.from({ length: days }, (_, index) => dayOf(index + 1, offset + index, byDay.get(index + 1) ?? []))}</svg>
`;
}

function dayOf(day: number, place: number, entries: readonly Entry[]): Markup {
  const [x, y] = [(place % 7) * cell, 24 + Math.floor(place / 7) * cell];
  const text = markup`<text x="${x + cell / 2}" y="${y + 16}">${day}</text>`;
  const worst = ranks.find((what) => entries.some((entry) => entry.what === what));
  if (worst === undefined) return text;
  return markup`<g data-state="${words[worst].state}"><rect x="${x + 1.5}" y="${y + 1.5}" width="${cell - 3}" height="${cell - 3}" rx="4"/>${text}</g>`;
}
