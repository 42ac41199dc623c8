import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const r = call('Missing', {});
  console.log(r.status === grpc.StatusUnimplemented, r.error.code, r.error.message, JSON.stringify(r.error.details), JSON.stringify(r.message));
  client.close();
}
