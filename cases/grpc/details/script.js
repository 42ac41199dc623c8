import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const r = call('Fail', { code: 3, message: 'm', details: 'CAMSAW0aKwokdHlwZS5nb29nbGVhcGlzLmNvbS9jYXNlcy5Xb3JkEgMKAWQ=' });
  console.log(r.error.code, r.error.message, r.trailers['grpc-status-details-bin'][0].length);
  client.close();
}
