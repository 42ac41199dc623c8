import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const r = call('Blob', { value: 5000000 });
  console.log(r.status === grpc.StatusResourceExhausted, r.error.message, JSON.stringify(r.message));
  client.close();
}
