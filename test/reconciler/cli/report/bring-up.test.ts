import { describe, expect, it } from 'vitest';
import { bringUpOf } from '../../../../reconciler/cli/report/bring-up.ts';
import { waterfallFile } from '../../../../reconciler/cli/report/waterfall.ts';
import { reportedAt, reportedObject, reportsOf } from '../../../support/reported-fleet.ts';

const day = 86_400_000;
const [healthy, , broken, rises, , , , , , unknown] = reportsOf();

/** Begins, ends and steps of what is in it. */
function shown(report = healthy) {
  const bringUp = report && bringUpOf(report, reportedAt);
  if (!bringUp) return undefined;
  const { spans, blocked, later, lasts, serves } = bringUp;
  const seconds = (ms: number | undefined) => (ms === undefined ? '…' : `${ms / 1000}`);
  return {
    spans: spans.map(
      ({ steps, begins, ends }) => `${seconds(begins)}-${seconds(ends)} ${steps.length} ${steps[0]?.type}`,
    ),
    blocked: blocked.length,
    later: later.map(({ type }) => type),
    lasts: seconds(lasts),
    serves: seconds(serves),
  };
}

describe('a bring-up', () => {
  it('has each step from when what it needs was done, those of one time together', () => {
    expect(shown()).toEqual({
      spans: [
        '0-3 6 ClocksAgree',
        '3-3 18 EtcdCertificatesReady',
        '3-8 1 EtcdClusterReady',
        '3-13 3 APIServerDeploymentsReady',
        '3-17 2 ControllerManagerReady',
        '13-13 5 WorkloadClusterInfoReady',
        '13-17 1 WorkloadKubeProxyReady',
        '13-24 2 WorkloadCoreDNSReady',
        '17-17 1 UpgradeHoldEnded',
      ],
      blocked: 0,
      later: [],
      lasts: '24',
      serves: '13',
    });
  });

  it('lasts until now while a step waits, with those that wait for it apart', () => {
    expect(shown(rises)).toMatchObject({ lasts: '75', serves: '…', later: [] });
    expect(shown(rises)?.spans.at(-1)).toBe('3-… 1 EtcdClusterReady');
    expect(shown(rises)?.blocked).toBe(14);
  });

  it('does not have what changed on another day', () => {
    expect(shown(broken)?.later).toEqual(['EtcdClusterReady', 'EtcdBackupReady', 'SchedulerReady']);
    expect(shown(broken)?.lasts).toBe('24');
    const restarted = { SchedulerReady: { status: 'True', reason: 'ReconcileSucceeded', since: day } } as const;
    const [report] = reportsOf([reportedObject(['team', 'restarted'], 2 * day, restarted)]);
    expect(shown(report)).toMatchObject({ later: ['SchedulerReady'], lasts: '24' });
  });

  it('does not have what is off, for which others have waited nevertheless', () => {
    const off = { EtcdRestoreReady: { status: 'True', reason: 'NotRequested', since: day - 3000 } } as const;
    const [report] = reportsOf([reportedObject(['team', 'off'], day, off)]);
    expect(shown(report)?.spans.slice(0, 2)).toEqual(['0-3 6 ClocksAgree', '3-3 17 EtcdCertificatesReady']);
  });

  it('of a clock that was turned back takes no negative time', () => {
    const early = { ClocksAgree: { status: 'True', reason: 'ReconcileSucceeded', since: 3 * day } } as const;
    const [report] = reportsOf([reportedObject(['team', 'early'], 2 * day, early)]);
    expect(shown(report)?.spans[0]).toBe('0-0 1 ClocksAgree');
  });

  it('is unknown before anything is reported', () => {
    expect(unknown && bringUpOf(unknown, reportedAt)).toBeUndefined();
    expect(() => unknown && waterfallFile(unknown, reportedAt)).toThrow('nothing is reported of unknown yet');
  });
});

describe('its picture', () => {
  const file = waterfallFile(healthy!, reportedAt);

  it('says in words what it shows', () => {
    expect(file).toContain(
      '<title id="bring-up-title">Bring-up of team-a/healthy: the API server answered after 13s, complete after 24s</title>',
    );
    expect(file).toMatch(
      /<desc id="bring-up-text">0s to 3s: ClocksAgree, .*\. 3s to 8s: EtcdClusterReady\. .*13s to 24s: WorkloadCoreDNSReady, WorkloadKonnectivityReady\./,
    );
  });

  it('draws each bar where its time is', () => {
    const bars = [...file.matchAll(/class="bar" data-state="(\w+)" x="([\d.]+)%" y="\d+" width="([\d.]+)%"/g)];
    expect(bars.map(([, ...values]) => values.join(' ')).slice(0, 4)).toEqual([
      'ok 0 12.5',
      'ok 12.5 0',
      'ok 12.5 20.83',
      'ok 12.5 41.67',
    ]);
  });

  it('of one that waits reaches the right edge', () => {
    expect(waterfallFile(rises!, reportedAt)).toMatch(/data-state="waits" x="4%" y="\d+" width="96%"/);
  });
});
