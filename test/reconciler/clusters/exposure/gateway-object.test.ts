import { expect, it } from 'vitest';
import { admittedHostsAnnotation, outsidePortAnnotation } from '../../../../constructs/api/group.ts';
import { Gateway } from '../../../../constructs/api/resources.ts';
import { type GatewayObject, gatewayState } from '../../../../reconciler/clusters/exposure/gateway-object.ts';

const { apiVersion, kind } = Gateway;
const gateway: GatewayObject = {
  apiVersion,
  kind,
  metadata: { namespace: 'infra', name: 'shared', uid: '1', resourceVersion: '1' },
  spec: { listeners: [{ name: 'tls', protocol: 'TLS', port: 443 }] },
  status: {
    addresses: [{ value: '192.0.2.1' }],
    listeners: [{ name: 'tls', conditions: [{ type: 'Programmed', status: 'True' }] }],
  },
};
const listener = (more: object, status = 'True') => ({
  ...gateway.status,
  listeners: [{ name: 'tls', conditions: [{ type: 'Programmed', status }], ...more }],
});

it.each<[string, boolean, GatewayObject]>([
  ['one more route is attached', true, { ...gateway, status: listener({ attachedRoutes: 7 }) }],
  ['only its version differs', true, { ...gateway, metadata: { ...gateway.metadata, resourceVersion: '2' } }],
  [
    'it admits another host',
    false,
    { ...gateway, metadata: { ...gateway.metadata, annotations: { [admittedHostsAnnotation]: '*/*' } } },
  ],
  [
    'it is reached at another port',
    false,
    { ...gateway, metadata: { ...gateway.metadata, annotations: { [outsidePortAnnotation]: '443' } } },
  ],
  ['it was recreated', false, { ...gateway, metadata: { ...gateway.metadata, uid: '2' } }],
  ['a listener differs', false, { ...gateway, spec: { listeners: [] } }],
  ['its address differs', false, { ...gateway, status: { ...gateway.status, addresses: [{ value: '192.0.2.2' }] } }],
  ['a listener ceases to work', false, { ...gateway, status: listener({}, 'False') }],
])('when %s, that no relevant field differs is %s', (_, same, changed) => {
  expect(gatewayState(changed) === gatewayState(gateway)).toBe(same);
});
