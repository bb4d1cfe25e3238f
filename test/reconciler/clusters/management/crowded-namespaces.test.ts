import { describe, expect, it } from 'vitest';
import { ConfigMap } from '../../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { CrowdedNamespaces } from '../../../../reconciler/clusters/management/crowded-namespaces.ts';
import { NamespaceRooms } from '../../../../reconciler/clusters/management/namespace-rooms.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const { apiVersion, kind } = ConfigMap;
const large: KubeObject & { readonly data: object } = {
  apiVersion,
  kind,
  metadata: { namespace: 'team', name: 'large' },
  data: { text: 'x'.repeat(1000) },
};

const minute = 60_000;
const hour = 60 * minute;

/** A room without one object, and the minutes at which its namespace is listed. */
function crowded() {
  const clock = new ManualClock(0);
  const looks: number[] = [];
  let isThere = true;
  const room = new NamespaceRooms({ ownBytes: 500, sharedBytes: 0 }, () => namespaces.note());
  const opened: string[] = [];
  const namespaces = new CrowdedNamespaces({
    client: {
      list: async <T extends KubeObject>(_: unknown, options?: { readonly keeper?: () => (object: T) => T }) => {
        looks.push(clock.elapsed() / minute);
        if (isThere) options?.keeper?.()(large as KubeObject as T);
        return { items: [], resourceVersion: '1' };
      },
    },
    clock,
    rooms: [{ room, kinds: [{ resource: ConfigMap }] }],
    relist: async () => {},
    onOpened: (namespace) => void opened.push(namespace),
    onError: (error) => {
      throw error;
    },
  });
  const fill = () => {
    isThere = true;
    room.add({}, large);
  };
  const empty = () => {
    isThere = false;
  };
  fill();
  return { clock, looks, opened, fill, empty };
}

describe('a namespace without room', () => {
  it('is looked at less and less often while it stays so', async () => {
    const { clock, looks } = crowded();
    await clock.advance(4 * hour);
    expect(looks.slice(0, 5)).toEqual([1, 3, 7, 15, 30]);
    expect(looks.length).toBeLessThanOrEqual(4 + (4 * 60 - 15) / 15);
  });

  it('is looked at as rarely if it had room for a moment, and soon if that was for more than an hour', async () => {
    const { clock, looks, opened, fill, empty } = crowded();
    await clock.advance(2 * hour);
    empty();
    await clock.advance(15 * minute);
    expect(opened).toEqual(['team']);
    const begun = clock.elapsed() / minute;
    looks.length = 0;
    fill();
    await clock.advance(15 * minute);
    expect(looks).toEqual([begun + 15]);

    empty();
    await clock.advance(15 * minute);
    await clock.advance(hour + minute);
    const later = clock.elapsed() / minute;
    looks.length = 0;
    fill();
    await clock.advance(minute);
    expect(looks).toEqual([later + 1]);
  });
});
