import { describe, expect, it } from 'vitest';
import { isConfigurationField, kubeProxyConfiguration } from '../../../constructs/workload/kube-proxy-configuration.ts';

const header = { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' };

describe('a flag of kube-proxy', () => {
  it.each([
    ['proxy-mode', 'nftables', { mode: 'nftables' }],
    ['conntrack-max-per-core', '0', { conntrack: { maxPerCore: 0 } }],
    ['oom-score-adj', '-998', { oomScoreAdj: -998 }],
    ['kube-api-qps', '12.5', { clientConnection: { qps: 12.5 } }],
    ['ipvs-strict-arp', 'true', { ipvs: { strictARP: true } }],
    ['profiling', 'false', { enableProfiling: false }],
    ['masquerade-all', 'true', { iptables: { masqueradeAll: true }, nftables: { masqueradeAll: true } }],
    ['nodeport-addresses', '10.0.0.0/8,fd00::/8', { nodePortAddresses: ['10.0.0.0/8', 'fd00::/8'] }],
    ['feature-gates', 'A=true,B=false', { featureGates: { A: true, B: false } }],
    ['metrics-bind-address', '0.0.0.0:10249', { metricsBindAddress: '0.0.0.0:10249' }],
    ['show-hidden-metrics-for-version', '1.35', { showHiddenMetricsForVersion: '1.35' }],
  ])('%s=%s becomes a field of its file', (flag, value, fields) => {
    expect(isConfigurationField(flag)).toBe(true);
    expect(kubeProxyConfiguration({ [flag]: value })).toEqual({ ...header, ...fields });
  });

  it('stays a flag if the file has no field for it', () => {
    expect(['v', 'hostname-override', 'config'].filter(isConfigurationField)).toEqual([]);
    expect(kubeProxyConfiguration({ v: '4' })).toEqual(header);
  });

  it('keeps an invalid value, so that kube-proxy reports it', () => {
    expect(kubeProxyConfiguration({ 'conntrack-min': 'many', profiling: 'maybe' })).toEqual({
      ...header,
      conntrack: { min: 'many' },
      enableProfiling: 'maybe',
    });
  });
});

it('fields of one object come together', () => {
  const flags = { 'conntrack-min': '1', 'conntrack-udp-timeout': '1m', 'ipvs-scheduler': 'rr' };
  expect(kubeProxyConfiguration(flags)).toEqual({
    ...header,
    conntrack: { min: 1, udpTimeout: '1m' },
    ipvs: { scheduler: 'rr' },
  });
});
