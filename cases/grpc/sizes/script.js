import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  client.connect(ADDRESS, { plaintext: true, maxReceiveSize: 10 });
  console.log(call('Blob', { value: 50 }).error.message);
  client.connect(ADDRESS, { plaintext: true, maxSendSize: 10 });
  console.log(call('EchoWord', { text: 'more than ten bytes' }).error.message);
  client.close();
}
