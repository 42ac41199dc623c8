import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const r = call('Count', { value: 2 });
  console.log(r.error.code, r.error.message, r.message.value);
  console.log(call('Sum', { value: 2 }).message.value, call('Chat', { text: 'x' }).message.text);
  client.close();
}
