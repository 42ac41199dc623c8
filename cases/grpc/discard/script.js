import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const r = call('EchoWord', { text: 'x' }, { discardResponseMessage: true });
  console.log(JSON.stringify(r.message), r.error, r.status == 0);
  client.close();
}
