import { describe, expect, it } from 'vitest';
import { planRows, policyRows, usersOf } from '../../support/certificate-tables.ts';
import { kindOf } from '../../../reconciler/certificates/expiries.ts';

describe('the printed plan', () => {
  it('has every certificate and the service account key', () => {
    const [heading, ...rows] = planRows();
    expect(rows).toHaveLength(Object.keys(kindOf).length + 1);
    expect(rows.every(({ length }) => length === heading?.length)).toBe(true);
    expect(rows.find(([secret]) => secret === 'CLUSTER-kubeconfig')?.slice(0, 5)).toEqual([
      'CLUSTER-kubeconfig',
      'cluster CA',
      'O=system:masters, CN=kubernetes-admin',
      'client',
      '1 year',
    ]);
  });

  it('gives system:masters only to the break-glass administrator', () => {
    const omnipotent = planRows().filter((row) => row.some((cell) => cell.includes('system:masters')));
    expect(omnipotent.map(([secret]) => secret)).toEqual(['CLUSTER-kubeconfig']);
  });

  it.each<[number | undefined, RegExp, RegExp]>([
    [undefined, /kube-scheduler \(verifies the API server, since 1\.36\)/, /kube-scheduler \(.*, before 1\.36\)/],
    [36, /kube-scheduler \(verifies the API server\)/, /^(?!.*kube-scheduler)/],
    [35, /^(?!.*kube-scheduler)/, /kube-scheduler \(verifies the API server\)/],
  ])(
    'lists the components that reload a new CA, and those that are restarted: minor %o',
    (minor, reloaded, restarted) => {
      const [reloadedBy, restartedForIt] = usersOf('clusterCA', minor);
      expect(reloadedBy).toMatch(reloaded);
      expect(restartedForIt).toMatch(restarted);
    },
  );

  it('names each reason of the policy once', () => {
    const reasons = policyRows().map(([reason]) => reason);
    expect(new Set(reasons).size).toBe(reasons.length);
    expect(reasons).toEqual(expect.arrayContaining(['Missing', 'OtherCA', 'RenewalDue']));
  });
});
