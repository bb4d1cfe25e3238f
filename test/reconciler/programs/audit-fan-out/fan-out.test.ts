import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Mode } from '../../../../constructs/control-plane/api-server/audit/fan-out-config.ts';
import { FanOut } from '../../../../reconciler/programs/audit-fan-out/fan-out.ts';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';
import { AuditReceiver, createReceiverCA, eventList } from '../../../support/audit-receiver.ts';
import { until } from '../../../support/until.ts';

const ownToken = 'token of the API server';
let ca: KeyPair;
let directory: string;
let receivers: AuditReceiver[];
let fanOut: FanOut;
let lines: string[];

beforeAll(async () => {
  ca = await createReceiverCA();
  directory = await mkdtemp(join(tmpdir(), 'fan-out-'));
});
afterAll(() => rm(directory, { recursive: true }));

beforeEach(async () => {
  lines = [];
  receivers = await Promise.all([AuditReceiver.start(ca), AuditReceiver.start(ca), AuditReceiver.start(ca)]);
  await Promise.all(receivers.map((_, index) => setToken(index, `token ${index}`)));
});
afterEach(async () => {
  await fanOut.end(wait(0));
  fanOut.healthServer.close();
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

const tokenFile = (index: number) => join(directory, `token-${index}`);
const setToken = (index: number, token: string) => writeFile(tokenFile(index), `${token}\n`);

async function start(mode: Mode, { queueBytes = 2 ** 20, timeoutMs = 10_000 } = {}): Promise<void> {
  const targets = receivers.map(({ url, ca: certificateAuthority }, index) => ({
    server: url,
    certificateAuthority,
    tokenFile: tokenFile(index),
  }));
  fanOut = new FanOut({
    config: { mode, targets },
    readToken: async () => ownToken,
    timeoutMs,
    queueBytes,
    backOffMs: () => 10,
    log: (line) => lines.push(line),
  });
  for (const server of [fanOut.server, fanOut.healthServer]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
}

const portOf = ({ server }: Pick<FanOut, 'server'>) => (server.address() as AddressInfo).port;

async function post(body: string, token = ownToken): Promise<number> {
  const headers = { authorization: `Basic ${Buffer.from(`audit:${token}`).toString('base64')}` };
  return (await fetch(`http://127.0.0.1:${portOf(fanOut)}`, { method: 'POST', body, headers })).status;
}

/** Posts lists of two records, one after the other, and returns the names of the records. */
async function postMany(lists: number, prefix = 'r'): Promise<string[]> {
  const pairs = Array.from({ length: lists }, (_, index) => [`${prefix}${index}a`, `${prefix}${index}b`]);
  for (const pair of pairs) expect(await post(eventList(...pair))).toBe(200);
  return pairs.flat();
}

async function metrics(): Promise<string> {
  const { port } = fanOut.healthServer.address() as AddressInfo;
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

const untilTaken = (receiver: AuditReceiver, names: readonly string[]) =>
  until(`${names.length} records`, () => receiver.taken.length >= names.length);

describe('in mode batch', () => {
  it('gives every receiver every record in order, with its own token', async () => {
    await start('batch');
    const names = await postMany(20);
    for (const [index, receiver] of receivers.entries()) {
      await untilTaken(receiver, names);
      expect(receiver.taken).toEqual(names);
      expect(receiver.authorizations).toEqual([`Bearer token ${index}`]);
    }
    const counts = receivers.map(({ url }) => `audit_fan_out_delivered_records_total{server="${url}"} 40`);
    await until('the last answers', async () => {
      const text = await metrics();
      return counts.every((count) => text.includes(count));
    });
  });

  it('sends a token that has changed from the next request on', async () => {
    await start('batch');
    const [first] = receivers;
    await untilTaken(first!, await postMany(1));
    await setToken(0, 'renewed');
    await postMany(1);
    await until('two more records', () => first?.taken.length === 4);
    expect(first?.authorizations).toEqual(['Bearer token 0', 'Bearer renewed']);
  });

  it('keeps records for a receiver that hangs, and delays no other', async () => {
    const [hanging, ...others] = receivers;
    hanging!.behaviour = 'hangs';
    await start('batch', { timeoutMs: 500 });
    const names = await postMany(10);
    for (const receiver of others) await untilTaken(receiver, names);
    expect(hanging?.taken).toEqual([]);
    await until('the first failure', () => lines.length > 0);
    expect(lines).toEqual([`audit records for ${hanging?.url} wait: it has not answered for 0.5 seconds`]);
    hanging!.behaviour = 200;
    await untilTaken(hanging!, names);
    expect(hanging?.taken).toEqual(names);
    await until('the last answer', () => lines.length > 1);
    expect(lines.slice(1)).toEqual([`audit records for ${hanging?.url} are taken again; 0 were dropped meanwhile`]);
  });

  it('keeps records for a receiver that answers with an error, and for one that dies', async () => {
    const [failing, dying, working] = receivers;
    failing!.behaviour = 500;
    await start('batch');
    const first = await postMany(5, 'first');
    await untilTaken(dying!, first);
    const { port } = dying!;
    await dying?.stop();
    const second = await postMany(5, 'second');
    await untilTaken(working!, [...first, ...second]);
    failing!.behaviour = 200;
    const restarted = await AuditReceiver.start(ca, { port });
    receivers[1] = restarted;
    await untilTaken(failing!, [...first, ...second]);
    expect(failing?.taken).toEqual([...first, ...second]);
    await untilTaken(restarted, second);
    expect(restarted.taken).toEqual(second);
  });

  it('drops older records for newer ones when the memory of a queue is full, and counts them', async () => {
    const [failing, ...others] = receivers;
    failing!.behaviour = 503;
    const queueBytes = 40 * eventList('r10a', 'r10b').length;
    await start('batch', { queueBytes });
    const names = await postMany(100);
    for (const receiver of others) await untilTaken(receiver, names);
    failing!.behaviour = 200;
    await until('the newest record', () => failing?.taken.includes('r99b') && lines.length > 1);
    const kept = failing?.taken.length ?? 0;
    expect(kept).toBeLessThan(names.length);
    expect(failing?.taken).toEqual(names.filter((name) => failing?.taken.includes(name)));
    expect(failing?.taken.slice(-40)).toEqual(names.slice(-40));
    const dropped = names.length - kept;
    expect(await metrics()).toContain(
      `audit_fan_out_dropped_records_total{server="${failing?.url}",reason="full"} ${dropped}`,
    );
    expect(lines.at(-1)).toContain(`${dropped} were dropped meanwhile`);
  });

  it('drops only the records that a receiver refuses', async () => {
    const [refusing, working] = receivers;
    let isReady = false;
    refusing!.behaviour = (names) => (isReady ? (names.includes('bad') ? 400 : 200) : 503);
    await start('batch');
    for (const name of ['a', 'bad', 'b']) await post(eventList(name));
    await untilTaken(working!, ['a', 'bad', 'b']);
    isReady = true;
    await until('the others', () => refusing?.taken.includes('b'));
    expect(refusing?.taken).toEqual(['a', 'b']);
    expect(await metrics()).toContain(
      `audit_fan_out_dropped_records_total{server="${refusing?.url}",reason="refused"} 1`,
    );
  });

  it('sends what is queued before it ends, as long as there is time', async () => {
    const [failing, working] = receivers;
    failing!.behaviour = 500;
    await start('batch');
    const names = await postMany(3);
    await untilTaken(working!, names);
    await until('a failure', () => lines.length > 0);
    const ended = fanOut.end(wait(30_000));
    failing!.behaviour = 200;
    await ended;
    expect(failing?.taken).toEqual(names);
  });

  it('says what is lost when the time to end is over', async () => {
    const [failing] = receivers;
    failing!.behaviour = 500;
    await start('batch');
    await postMany(3);
    await fanOut.end(wait(200));
    expect(lines.at(-1)).toBe(`6 audit records for ${failing?.url} are lost: the time to stop is over`);
  });
});

describe('in mode blocking', () => {
  it('answers when every receiver has the records', async () => {
    await start('blocking');
    expect(await post(eventList('a'))).toBe(200);
    for (const { taken } of receivers) expect(taken).toEqual(['a']);
  });

  it('answers without an error when a receiver fails or hangs, and keeps the records for it', async () => {
    const [failing, hanging, working] = receivers;
    failing!.behaviour = 500;
    hanging!.behaviour = 'hangs';
    await start('blocking', { timeoutMs: 300 });
    expect(await post(eventList('a'))).toBe(200);
    expect(working?.taken).toEqual(['a']);
    expect(hanging?.taken).toEqual([]);
    for (const receiver of [failing, hanging]) {
      receiver!.behaviour = 200;
      await untilTaken(receiver!, ['a']);
    }
  });

  it('sends the records of many requests together, in their order', async () => {
    await start('blocking');
    const names = Array.from({ length: 50 }, (_, index) => `r${index}`);
    expect(await Promise.all(names.map((name) => post(eventList(name))))).toEqual(names.map(() => 200));
    const [first, ...others] = receivers;
    expect(first?.taken.toSorted()).toEqual(names.toSorted());
    expect(first?.requests).toBeLessThan(names.length);
    for (const { taken } of others) expect(taken).toEqual(first?.taken);
  });
});

describe('in mode blocking-strict', () => {
  it.each([500, 400, 'hangs'] as const)('answers with an error when a receiver answers with %s', async (behaviour) => {
    const [, failing] = receivers;
    failing!.behaviour = behaviour;
    await start('blocking-strict', { timeoutMs: 300 });
    expect(await post(eventList('a'))).toBe(500);
    failing!.behaviour = 200;
    expect(await post(eventList('b'))).toBe(200);
    // The API server has refused the request of the first record.
    expect(failing?.taken).toEqual(['b']);
  });
});

it('does not take the end of an idle connection for a failure', async () => {
  const [resetting] = receivers;
  await start('blocking-strict');
  expect(await post(eventList('a'))).toBe(200);
  resetting!.behaviour = () => (resetting?.requests === 2 ? 'resets' : 200);
  expect(await post(eventList('b'))).toBe(200);
  expect(resetting?.requests).toBe(3);
  expect(resetting?.taken).toEqual(['a', 'b']);
});

describe('whatever the mode', () => {
  it.each(['', 'another token'])('refuses records with the token "%s"', async (token) => {
    await start('batch');
    expect(await post(eventList('a'), token)).toBe(401);
    expect(await metrics()).toContain(`queued_records{server="${receivers[0]?.url}"} 0`);
  });

  it.each(['', '{}', 'items', '{"items":[}]', '{"items":[{"auditID":"a"}', 'x'.repeat(100)])(
    'refuses the body "%s"',
    async (body) => {
      await start('batch');
      expect(await post(body)).toBe(400);
    },
  );

  it('sends nothing to a server that presents a certificate of another CA', async () => {
    await start('blocking-strict');
    const { port } = receivers[0]!;
    await receivers[0]?.stop();
    receivers[0] = await AuditReceiver.start(await createReceiverCA(), { port });
    expect(await post(eventList('a'))).toBe(500);
    expect(receivers[0]?.requests).toBe(0);
  });
});
