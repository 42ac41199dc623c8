import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const address = __ENV.BASE.slice('http://'.length);
export default function () {
  for (const params of [{ plaintext: 'yes' }, { plaintext: true, timeout: 'soon' }, { plaintext: true, timeout: '5s' }, { plaintext: true, timeout: 5000 }, { plaintext: true, maxReceiveSize: -1 }, { plaintext: true, maxReceiveSize: 'x' }, { plaintext: true, reflect: 5 }, { plaintext: true, tls: 5 }, { plaintext: true, own: 1 }, { plaintext: true, reflectMetadata: 5 }]) {
    try { console.log(JSON.stringify(params), client.connect(address, params)); client.close(); } catch (e) { console.log(JSON.stringify(params), 'threw', e.name); }
  }
}
