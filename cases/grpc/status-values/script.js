import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const s = call('EchoWord', {}).status;
  console.log(typeof s, s == 0, s + 1, `${s}`, JSON.stringify({ s }), s === grpc.StatusOK, grpc.StatusNotFound == 5, `${grpc.StatusNotFound}`);
  client.close();
}
