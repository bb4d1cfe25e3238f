import type { PodObject } from '../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import {
  configurationHash,
  formatConfiguration,
  formatKeys,
  identity,
  newKey,
  parseConfiguration,
  parseKeys,
} from '../../../reconciler/encryption-at-rest/configuration.ts';
import { loadedConfiguration, podsWithout } from '../../../reconciler/encryption-at-rest/rotate-keys.ts';
import { now } from '../../support/scope.ts';

const first = newKey(now, []);
const second = newKey(now, [first.name]);

describe('a key', () => {
  it('is 32 random bytes', () => {
    expect(Buffer.from(first.secret, 'base64')).toHaveLength(32);
    expect(second.secret).not.toBe(first.secret);
  });

  it('has a unique name, also if the clock goes backwards', () => {
    expect(first.name).toBe(`key-${now.getTime()}`);
    expect(second.name).toBe(`key-${now.getTime() + 1}`);
    expect(newKey(now, ['of-a-user']).name).toBe(first.name);
  });
});

describe('a configuration', () => {
  it('is parsed as it was written, in its order', () => {
    const providers = [second, identity, first] as const;
    expect(parseConfiguration(formatConfiguration(providers))).toEqual(providers);
    expect(parseKeys(formatKeys([first, second]))).toEqual([first, second]);
  });

  it.each([
    ['nothing', ''],
    ['not YAML', '{'],
    ['another kind', 'kind: ConfigMap'],
    ['an empty list', formatConfiguration([])],
    ['another encryption provider', formatConfiguration([first]).replace('secretbox', 'aesgcm')],
    ['other resources', formatConfiguration([first]).replace('- secrets', '- "*.*"')],
  ])('is not recognized if it is %s', (_, text) => {
    expect(parseConfiguration(text)).toBeUndefined();
  });

  it('has the hash that API servers report', () => {
    expect(configurationHash('')).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });
});

describe('the configuration that an API server has loaded', () => {
  const name = 'apiserver_encryption_config_controller_last_config_info';
  it.each([
    [
      'is read from its metrics',
      `# HELP ${name} x\n${name}{apiserver_id_hash="sha256:a",hash="sha256:b"} 1\nx 1`,
      'sha256:b',
    ],
    ['is nothing without a configuration', 'apiserver_request_total 1', undefined],
    ['is none if its metric is 0', `${name}{apiserver_id_hash="sha256:a",hash="sha256:b"} 0`, undefined],
  ])('%s', (_, metrics, hash) => {
    expect(loadedConfiguration(metrics)).toBe(hash);
  });

  const hash = configurationHash('any');
  const pod = (version: string, restartsWith = '', ready = 'True'): PodObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      annotations: {
        'controlplane.cluster.x-k8s.io/version': version,
        'controlplane.cluster.x-k8s.io/restarts-with': restartsWith,
      },
    },
    status: { podIP: '192.0.2.1', conditions: [{ type: 'Ready', status: ready }] },
  });
  const startedWith = `c1-encryption=${hash.slice(7, 19)}`;
  it.each<[string, PodObject, string | Error | undefined, string[]]>([
    ['is requested from the API server', pod('v1.34.0'), hash, []],
    ['is another one if the API server reports another hash', pod('v1.36.3'), configurationHash('other'), ['p']],
    ['is unknown if the API server reports none', pod('v1.36.3', startedWith), undefined, ['p']],
    ['is unknown if the API server does not answer', pod('v1.36.3'), new Error('refused'), ['p']],
    [
      'is the one its pod was started with if its version does not report it',
      pod('v1.33.1', `a=b,${startedWith}`),
      undefined,
      [],
    ],
    ['is unknown if the pod was started with another one', pod('v1.33.1', 'c1-encryption=000000000000'), hash, ['p']],
    ['is none before the pod is ready', pod('v1.33.1', startedWith, 'False'), hash, ['p']],
  ])('%s', async (_, object, answer, missing) => {
    const ask = async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const who = await podsWithout({ hash, secret: 'c1-encryption' }, [object], ask);
    expect(who.map((text) => text.split(', which ')[0])).toEqual(missing);
  });
});
