import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  call('EchoWord', {}, { tags: { kind: 'one', number: 5, yes: true } });
  call('EchoWord', {}, { tags: { name: 'called' } });
  call('EchoWord', {}, { tags: { url: 'mine', service: 'mine', method: 'mine', status: 'mine' } });
  call('Fail', { code: 5 });
  client.close();
}
