import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Health, serveHealth } from '../../../reconciler/operator/http-servers.ts';

const health: { -readonly [key in keyof Health]: Health[key] } = { whyDead: undefined, isReady: true };
let server: Server;
beforeAll(async () => {
  server = await serveHealth(0, health);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const port = () => (server.address() as AddressInfo).port;

it.each<[string, Partial<Health>, number, string]>([
  ['/healthz', {}, 200, 'ok'],
  ['/healthz', { isReady: false }, 200, 'ok'],
  ['/healthz', { whyDead: 'it hears nothing' }, 503, 'not ok: it hears nothing'],
  ['/readyz', {}, 200, 'ok'],
  ['/readyz', { whyDead: 'it hears nothing' }, 200, 'ok'],
  ['/readyz', { isReady: false }, 503, 'not ok'],
  ['/metrics', {}, 404, 'not found'],
])('answers %s of %o with %d', async (path, changes, status, text) => {
  Object.assign(health, { whyDead: undefined, isReady: true, ...changes });
  const response = await fetch(`http://127.0.0.1:${port()}${path}`);
  expect(response.status).toBe(status);
  expect(await response.text()).toBe(`${text}\n`);
});

it('refuses a port that is taken', async () => {
  await expect(serveHealth(port(), health)).rejects.toThrow('EADDRINUSE');
});
