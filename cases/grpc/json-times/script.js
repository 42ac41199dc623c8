import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const t of ['1970-01-01T00:00:00Z', '2020-01-01T00:00:00.123456789Z', '2020-01-01T01:00:00+01:00', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z']) console.log(call('EchoKnown', { timestamp: t }).message.timestamp);
  for (const d of ['0s', '-1.5s', '3600s', '0.000001s', '0.000000001s']) console.log(call('EchoKnown', { duration: d }).message.duration);
  client.close();
}
