import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const r = call('Fail', { code: 42, message: 'odd' });
  console.log(r.error.code, r.error.message, r.status == 42, `${r.status}`);
  client.close();
}
