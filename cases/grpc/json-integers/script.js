import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const n of [0, 1, '1', -1, '9223372036854775807', '-9223372036854775808']) console.log(call('Echo', { anInt64: n }).message.anInt64);
  console.log(call('Echo', { aUint64: '18446744073709551615' }).message.aUint64);
  client.close();
}
