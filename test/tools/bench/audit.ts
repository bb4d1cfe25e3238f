import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FanOutConfig } from '../../../constructs/control-plane/api-server/audit/fan-out-config.ts';
import { fanOutNodeFlags } from '../../../constructs/control-plane/api-server/audit/fan-out.ts';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { ChildProgram } from '../../support/child-program.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { bundleFanOut, fanOutBundle } from '../testbed/operator-bundle.ts';
import { node } from './child-program.ts';
import type { Extent } from './extent.ts';
import type { Figure } from './figure.ts';
import { processMemory } from './process-memory.ts';

const token = 'token';
const receivers = 2;
/** Requests that the API server has under way at once. */
const atOnce = 4;
/** What the API server sends in one request at most, by default. */
const batch = 400;
/** Size of a record of level Metadata. */
const recordBytes = 1_000;

/**
 * What the audit fan-out takes: its bundle as in the pod of an API server, with two receivers. They and the client that stands
 * for the API server share one other process.
 */
export async function measureAudit({ audit }: Extent): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'audit-'));
  try {
    await bundleFanOut(directory);
    const [inBatches, alone] = [
      await measureSpeed(directory, audit.inBatches, batch),
      await measureSpeed(directory, audit.alone, 1),
    ];
    const full = await measureFullQueues(directory, audit.waiting);
    const mebibytes = (bytes: number) => ({ value: bytes / 2 ** 20, unit: 'MiB' });
    return [
      { name: `audit records to two receivers, ${batch} in a request`, value: inBatches.speed, unit: 'records/s' },
      { name: 'audit records to two receivers, one in a request', value: alone.speed, unit: 'records/s' },
      { name: 'memory of the audit fan-out at rest', ...mebibytes(inBatches.rest) },
      { name: 'memory of the audit fan-out, peak while both receivers answer', ...mebibytes(inBatches.peak) },
      { name: 'memory of the audit fan-out, peak while neither answers', ...mebibytes(full) },
    ];
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Records a second until every receiver has them, when the API server waits for each answer; memory in bytes. */
async function measureSpeed(directory: string, records: number, perRequest: number) {
  const fanOut = await RunningFanOut.start(directory, 'blocking', (response) => response.end('{}'));
  try {
    const rest = await fanOut.memory('VmRSS');
    const requests = Math.ceil(records / perRequest);
    const from = performance.now();
    await fanOut.post(requests, eventList(perRequest));
    const speed = (1000 * requests * perRequest) / (performance.now() - from);
    const missing = (await fanOut.counters('delivered_records_total')).filter(
      (count) => count !== requests * perRequest,
    );
    if (missing.length > 0) throw new Error(`${missing.length} receivers have not taken all records`);
    return { speed, rest, peak: await fanOut.memory('VmHWM') };
  } finally {
    await fanOut.end();
  }
}

/** Peak memory in bytes while records wait for receivers that do not answer. */
async function measureFullQueues(directory: string, records: number): Promise<number> {
  const fanOut = await RunningFanOut.start(directory, 'batch', () => {});
  try {
    await fanOut.post(Math.ceil(records / batch), eventList(batch));
    return await fanOut.memory('VmHWM');
  } finally {
    await fanOut.end();
  }
}

class RunningFanOut {
  readonly #program: ChildProgram;
  readonly #receivers: readonly Receiver[];
  readonly #ports: Ports;

  private constructor(program: ChildProgram, receivers: readonly Receiver[], ports: Ports) {
    this.#program = program;
    this.#receivers = receivers;
    this.#ports = ports;
  }

  static async start(directory: string, mode: FanOutConfig['mode'], answer: (response: ServerResponse) => void) {
    const started = await startReceivers(answer);
    const ports = { records: await freePort(), health: await freePort() };
    const targets = started.map(({ server, ca: certificateAuthority }) => ({
      server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      certificateAuthority,
    }));
    const [config, tokenFile] = [join(directory, 'fan-out.json'), join(directory, 'token')];
    await writeFile(config, JSON.stringify({ mode, targets } satisfies FanOutConfig));
    await writeFile(tokenFile, token);
    const flags = { config, 'token-file': tokenFile, port: ports.records, 'health-port': ports.health };
    const given = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    const command = [...fanOutNodeFlags, join(directory, fanOutBundle), ...given];
    const fanOut = new RunningFanOut(
      new ChildProgram(node, command, { log: join(directory, 'fan-out.log') }),
      started,
      ports,
    );
    await until('the fan-out to serve', async () => (await fanOut.counters('queued_records')).length === receivers);
    return fanOut;
  }

  async end(): Promise<void> {
    await this.#program.end();
    for (const { server } of this.#receivers) server.close().closeAllConnections();
  }

  memory(field: 'VmRSS' | 'VmHWM'): Promise<number> {
    return processMemory(this.#program.pid ?? 0, field);
  }

  /** Posts the same body again and again. @throws when it is not taken */
  async post(requests: number, body: string): Promise<void> {
    const authorization = `Basic ${Buffer.from(`audit:${token}`).toString('base64')}`;
    let left = requests;
    const sender = async () => {
      while (left-- > 0) {
        const request = { method: 'POST', body, headers: { authorization } };
        const response = await fetch(`http://127.0.0.1:${this.#ports.records}`, request);
        const text = await response.text();
        if (!response.ok) throw new Error(`the fan-out answers with ${response.status}: ${text}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, sender));
  }

  /** A metric of each receiver; none while the fan-out does not serve. */
  async counters(name: string): Promise<number[]> {
    const text = await fetch(`http://127.0.0.1:${this.#ports.health}/metrics`).then(
      (response) => response.text(),
      () => '',
    );
    const samples = text.matchAll(new RegExp(`^audit_fan_out_${name}\\{.*\\} (\\d+)$`, 'gm'));
    return [...samples].map(([, count]) => Number(count));
  }
}

interface Ports {
  readonly records: number;
  readonly health: number;
}

interface Receiver {
  readonly server: Server;
  readonly ca: string;
}

async function startReceivers(answer: (response: ServerResponse) => void): Promise<Receiver[]> {
  const validity = validFor(60 * 60_000, new Date());
  const ca = await createCA({ commonName: 'audit receivers' }, validity);
  const identity = { commonName: 'receiver', organizations: [], usages: ['server'], hosts: ['127.0.0.1'] } as const;
  const { certificate: cert, key } = await issueCertificate(identity, ca, validity);
  const listening = Array.from({ length: receivers }, async () => {
    const server = createServer({ cert, key }, (request, response) => {
      request.resume().once('end', () => answer(response));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return { server, ca: ca.certificate };
  });
  return Promise.all(listening);
}

function eventList(records: number): string {
  const record = {
    level: 'Metadata',
    auditID: '00000000-0000-0000-0000-000000000000',
    stage: 'ResponseComplete',
    verb: 'get',
    annotations: { reason: 'r'.repeat(recordBytes) },
  };
  const items = Array.from({ length: records }, () => record);
  return JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items });
}
