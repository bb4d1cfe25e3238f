import { createServer, type Server } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { EventRecorder, renderEvent, type EventNote } from '../../../reconciler/kube/events.ts';
import { microTime } from '../../../reconciler/kube/micro-time.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const object: KubeObject = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlane',
  metadata: { namespace: 'a', name: 'b', uid: 'uid' },
};
const note: EventNote = { type: 'Normal', reason: 'Renewed', action: 'Renew', note: 'certificates renewed' };
const start = { time: 0, sequence: 0 };
const reporter = { reportingController: 'example.com/controller', reportingInstance: 'pod' };

describe('renderEvent', () => {
  it('refers to the object, in its namespace', () => {
    expect(renderEvent(object, note, { time: Date.parse('2026-01-01T00:00:00.12Z'), sequence: 7 }, reporter)).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'a', name: expect.stringMatching(/^b\.[0-9a-f]+\.7$/) },
      eventTime: '2026-01-01T00:00:00.120000Z',
      ...note,
      regarding: { apiVersion: object.apiVersion, kind: object.kind, namespace: 'a', name: 'b', uid: 'uid' },
      ...reporter,
    });
  });

  it('is in the default namespace if the object has none', () => {
    const event = renderEvent({ ...object, metadata: { name: 'b' } }, note, start, reporter);
    expect(event.metadata.namespace).toBe('default');
  });

  it.each(['x', 'é', '😀'])('truncates a note of many %s between characters at 1 kB', (character) => {
    const { note: cut } = renderEvent(object, { ...note, note: character.repeat(2_000) }, start, reporter);
    expect(Buffer.byteLength(String(cut))).toBeLessThanOrEqual(1024);
    expect(String(cut)).toMatch(new RegExp(`^${character}{200,}…$`, 'u'));
  });

  it('keeps its name within the length limit of object names', () => {
    const event = renderEvent(
      { ...object, metadata: { name: 'n'.repeat(253) } },
      note,
      { time: Date.now(), sequence: 0 },
      reporter,
    );
    expect(event.metadata.name).toHaveLength(253);
  });
});

describe('EventRecorder', () => {
  const clock = new ManualClock();
  let server: Server;
  /** Bodies of requests. */
  let received: Record<string, unknown>[];
  let status: number;
  let recorder: EventRecorder;
  let client: KubeClient;
  let errors: unknown[];

  beforeEach(async () => {
    [received, status, errors] = [[], 201, []];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (text: Buffer) => (body += text.toString()));
      request.on('end', () => {
        received.push(JSON.parse(body) as Record<string, unknown>);
        response.writeHead(status).end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    client = new KubeClient(connectionFor({ server: `http://127.0.0.1:${port}`, ca: '' }));
    recorder = new EventRecorder({ client, clock, ...reporter, onError: (error) => errors.push(error) });
  });

  afterEach(async () => {
    await client.connection.close();
    await new Promise((resolve) => server.close(resolve));
  });

  const seriesOf = (name: unknown) =>
    received.filter((event) => isDeepStrictEqual(event['metadata'], name)).map((event) => event['series']);

  it('counts what happens again within ten minutes in one Event', async () => {
    for (let i = 0; i < 3; i++) recorder.record(object, note);
    recorder.record({ ...object, metadata: { ...object.metadata, name: 'c' } }, note);
    recorder.record(object, { ...note, note: 'something else' });
    await recorder.flush();
    const names = received.map((event) => event['metadata']);
    expect(new Set(names.map((name) => JSON.stringify(name))).size).toBe(3);
    const lastObservedTime = microTime(clock.now());
    expect(seriesOf(names[0])).toEqual([undefined, { count: 2, lastObservedTime }, { count: 3, lastObservedTime }]);
  });

  it('counts from the last time on, and starts a new Event after ten minutes without it', async () => {
    const times: unknown[] = [];
    for (const minutes of [0, 9, 9, 10]) {
      await clock.advance(minutes * 60_000);
      times.push(microTime(clock.now()));
      recorder.record(object, note);
      await recorder.flush();
    }
    const [first, , third, fourth] = received;
    expect(third).toEqual({ ...first, series: { count: 3, lastObservedTime: times[2] } });
    expect(fourth).toMatchObject({ eventTime: times[3] });
    expect(fourth).not.toMatchObject({ metadata: first?.['metadata'] });
  });

  it('reports an event that could not be written, and starts a new one the next time', async () => {
    status = 403;
    recorder.record(object, note);
    await recorder.flush();
    expect(errors).toHaveLength(1);
    status = 201;
    recorder.record(object, note);
    await recorder.flush();
    expect(received.map((event) => event['series'])).toEqual([undefined, undefined]);
    expect(errors).toHaveLength(1);
  });
});
