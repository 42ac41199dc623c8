import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const b of ['', 'AAEC', '-_8=', '+/8=', '+/8']) console.log(call('Echo', { someBytes: b }).message.someBytes);
  client.close();
}
